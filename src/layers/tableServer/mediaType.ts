/**
 * The media types of files by their extension.
 */

export const mediaType = (file: string): string => {
  const extension = /\.([^./]+)$/.exec(file)?.[1]?.toLowerCase() ?? ""
  return known.get(extension) ?? "application/octet-stream"
}

const known = new Map([
  ["avif", "image/avif"],
  ["csv", "text/csv"],
  ["gif", "image/gif"],
  ["glb", "model/gltf-binary"],
  ["jpeg", "image/jpeg"],
  ["jpg", "image/jpeg"],
  ["json", "application/json"],
  ["m4a", "audio/mp4"],
  ["mov", "video/quicktime"],
  ["mp3", "audio/mpeg"],
  ["mp4", "video/mp4"],
  ["ogg", "audio/ogg"],
  ["pdf", "application/pdf"],
  ["png", "image/png"],
  ["svg", "image/svg+xml"],
  ["tif", "image/tiff"],
  ["tiff", "image/tiff"],
  ["txt", "text/plain"],
  ["wav", "audio/wav"],
  ["webm", "video/webm"],
  ["webp", "image/webp"],
  ["zip", "application/zip"]
])
