// What the page does. How it looks is in main.js and style.css.
import { current, language, validAt } from "/vitrine/helpers.js"
import { connect } from "/vitrine/preview.js"

const hyphenOf = (code) => import(`/vitrine/hyphen-${code}.js`)

{{exhibit.js}}
