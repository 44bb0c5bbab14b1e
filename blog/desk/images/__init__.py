"""The library of images in the desk: a grid, the page of an image, uploads and the choice of one for a post."""
