const dayMs = 86_400_000;

/** How long the certificate of a listener is good. */
export const servingLifeMs = 90 * dayMs;
/** How long the authority is good. */
export const authorityLifeMs = 3_650 * dayMs;
/** How long a new authority only waits in the bundle before it signs anything, so that everybody trusts it by then. */
export const settlingMs = 3_600_000;
/** Clocks differ: certificates are good for those that are a little behind, too. */
export const backdateMs = 3_600_000;
