"""The pages of the inbox, for editors and for members: the same content in another frame."""
