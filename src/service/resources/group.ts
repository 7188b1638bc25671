/** The names of the API group and its resources, and the version that users write and the cluster stores. */
export const group = 'operator.technomad.dev';
export const version = 'v1';
export const apiVersion = `${group}/${version}`;

export const kind = 'ImagePolicy';
export const plural = 'imagepolicies';
export const shortName = 'ipol';
export const crdName = `${plural}.${group}`;
/** The resource in the URLs of the API server. */
export const policyResource = { apiVersion, resource: plural };

export const baseKind = 'BaseImagePolicy';
export const basePlural = 'baseimagepolicies';
export const baseShortName = 'bipol';
export const baseCrdName = `${basePlural}.${group}`;
export const baseResource = { apiVersion, resource: basePlural };

export const recordKind = 'BaseImageRecord';
export const recordPlural = 'baseimagerecords';
export const recordShortName = 'birec';
export const recordResource = { apiVersion, resource: recordPlural };
