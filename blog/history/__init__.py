"""The history of posts: versions, differences, merging, deleted posts."""
