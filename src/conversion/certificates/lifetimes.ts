/** How long certificates of the conversion webhook are valid, and from when. */

const dayMs = 86_400_000;

/** The lifetime of a listener's certificate. */
export const servingLifeMs = 90 * dayMs;
/** The lifetime of an authority. */
export const authorityLifeMs = 3_650 * dayMs;
/** How long a new authority is only in the bundle before it signs anything, so that all API servers trust it by then. */
export const propagationMs = 3_600_000;
/** How long before now certificates become valid, for clients whose clock is behind. */
export const backdateMs = 3_600_000;
