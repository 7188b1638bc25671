/** What a failed rollout may speak against: only a failure of the image itself makes its digest rejected. */
export const sides = ['image', 'registry', 'cluster', 'configuration', 'unknown'] as const;

export type Side = (typeof sides)[number];
