/** The names of the resource. */
export const group = 'operator.technomad.dev';
export const kind = 'ImagePolicy';
export const plural = 'imagepolicies';
export const shortName = 'ipol';
export const crdName = `${plural}.${group}`;
