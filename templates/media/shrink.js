  // A copy of a picture that is small enough to upload from anywhere: `limits` has the longest `side` in pixels, the most
  // `bytes`, the `types` the server takes, and those to be sent `untouched`, such as a GIF, which may move. What cannot be
  // decoded is sent as it is: the server judges.
  async function shrink(file, limits) {
    if (limits.untouched?.includes(file.type)) return file;
    try {
      // Turned upright, as the camera meant it. Old browsers know no options, and turn it anyway.
      const image = await createImageBitmap(file, { imageOrientation: "from-image" }).catch(() => createImageBitmap(file));
      const scale = Math.min(1, limits.side / Math.max(image.width, image.height));
      const known = limits.types.includes(file.type);
      if (known && scale === 1 && file.size <= limits.bytes) return file;
      const canvas = document.createElement("canvas");
      Object.assign(canvas, { width: Math.round(image.width * scale), height: Math.round(image.height * scale) });
      const context = canvas.getContext("2d");
      context.imageSmoothingQuality = "high";
      context.drawImage(image, 0, 0, canvas.width, canvas.height);
      image.close();
      const encode = (type) => new Promise((resolve) => { canvas.toBlob(resolve, type, 0.88); });
      let blob = await encode(known ? file.type : "image/jpeg");
      // A photo as a PNG stays large. WebP is transparent, too, where the browser can write it.
      if (blob?.type === "image/png" && blob.size > limits.bytes) {
        const smaller = await encode("image/webp");
        if (smaller?.type === "image/webp") blob = smaller;
      }
      return blob && limits.types.includes(blob.type) && (blob.size < file.size || scale < 1 || !known) ? blob : file;
    } catch {
      return file;
    }
  }
