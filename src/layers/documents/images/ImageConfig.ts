/**
 * The sizes of pictures as a user asks for them, for programs with any Effect or none.
 *
 * It needs the package `sharp` beside Vitrine: `npm install sharp`. Each picture gets `sizes` beside its `localPath`: smaller
 * ones, upright, without metadata, in the colours of screens. The picture itself stays as it came. Animated pictures and SVG
 * get none; of an animated PNG it is its first picture.
 */
export interface ImageConfig {
  /**
   * In pixels, 1 to 16383; at most 12. A picture that is smaller gets its own width in the place of those that are larger: none is
   * enlarged. Default 640 and 1920.
   */
  readonly widths?: ReadonlyArray<number>

  /**
   * Each width is made in each of them. A page takes the first that its browser knows, so that the smallest files come
   * first: `["avif", "webp", "jpeg"]`. AVIF takes 12 to 22 seconds for each picture of 12 megapixels, WebP less than one. Default `webp`.
   */
  readonly formats?: ReadonlyArray<ImageFormat>

  /** Of JPEG, WebP and AVIF, 1 to 100. Default that of `sharp`: 80, of AVIF 50. */
  readonly quality?: number

  /**
   * An aspect ratio, `"16:9"` or `"square"`: what is beyond it is cut off, around the focal point where the picture has one. Default
   * the whole picture.
   */
  readonly crop?: string
}

export type ImageFormat = "jpeg" | "webp" | "png" | "avif"
