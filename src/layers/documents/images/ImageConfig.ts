/**
 * The sizes of pictures that a user wants, for programs with any version of Effect or none.
 *
 * It needs the package `sharp` beside Vitrine: `npm install sharp`. Each picture gets `sizes` beside its `localPath`:
 * smaller pictures, upright, without metadata, in the colours of screens. The picture itself stays as it is. Animated
 * pictures and SVG get no sizes.
 */
export interface ImageConfig {
  /**
   * Widths in pixels, at most 12, each up to 16383; a smaller picture gets its own width instead of
   * larger ones. Default `[640, 1920]`.
   */
  readonly widths?: ReadonlyArray<number> | undefined

  /**
   * Formats of each width, in the order in which a page offers them, so the smallest come first. AVIF
   * takes 12 to 22 seconds for a picture of 12 megapixels, WebP less than one. Default `["webp"]`.
   */
  readonly formats?: ReadonlyArray<ImageFormat> | undefined

  /** Quality of JPEG, WebP and AVIF, 1 to 100. Default that of `sharp` (80, AVIF 50). */
  readonly quality?: number | undefined

  /**
   * An aspect ratio such as `"16:9"` or `"square"`, cut around the focal point where a picture has one.
   * Default none.
   */
  readonly crop?: string | undefined
}

export type ImageFormat = "jpeg" | "webp" | "png" | "avif"
