/** A path with forward slashes, part by part, as it stands in a URL: names may hold spaces, `#`, `?` and `%`. */
export const encodePath = (path) => path.split("/").map(encodeURIComponent).join("/")
