/** Loads the pictures of an exhibit, all of them, before anything is shown. It knows nothing of tables or the screen. */

const pictureLimitMs = 30_000

/** The picture as an image element that can be painted at once. */
const loadPicture = ({ alt, url }) =>
  new Promise((resolve, reject) => {
    const image = new Image()
    const fail = () => {
      image.src = ""
      reject(new Error(`${url} cannot be loaded as a picture`))
    }
    const timer = setTimeout(fail, pictureLimitMs)
    image.alt = alt
    image.src = url
    image
      .decode()
      .then(() => resolve(image), fail)
      .finally(() => clearTimeout(timer))
  })

/**
 * An image element for every object that has a picture, by the object's key. Fails, with the address in the message,
 * where a single one cannot be loaded.
 */
export const loadPictures = async (objects) =>
  new Map(
    await Promise.all(
      objects
        .filter(({ picture }) => picture !== null)
        .map(async ({ key, picture }) => [key, await loadPicture(picture)])
    )
  )
