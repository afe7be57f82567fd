"""Every public picture, and where it is used: campaigns know that, and `media` does not know campaigns."""
