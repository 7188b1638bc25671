/** What a failed rollout is attributed to. Its digest is rejected only if that is the image. */
export const sides = ['image', 'registry', 'cluster', 'configuration', 'unknown'] as const;

export type Side = (typeof sides)[number];
