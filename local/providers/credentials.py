"""What the small YouTube and the small Spotify know their one app by. They are no secrets: both answer on loopback
only, and nobody else takes them."""

YOUTUBE = {
    "YOUTUBE_CLIENT_ID": "000000000000-slowgarden.apps.local",
    "YOUTUBE_CLIENT_SECRET": "local-client-secret",
    "YOUTUBE_API_KEY": "local-api-key",
}
SPOTIFY = {"SPOTIFY_CLIENT_ID": "510e9a4de0510e9a4de0510e9a4de051"}
