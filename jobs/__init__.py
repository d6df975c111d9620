"""What a worker executes, from `intake` to `deliver`: read these in order and you know the product."""
