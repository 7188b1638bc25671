/** Media types that several rooms read or write: https://github.com/opencontainers/image-spec/blob/main/media-types.md */

export const manifestType = 'application/vnd.oci.image.manifest.v1+json';
/** The type of a content that says nothing: `{}`. */
export const emptyType = 'application/vnd.oci.empty.v1+json';
/** The type of attestations: https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md */
export const statementType = 'application/vnd.in-toto+json';
/** The type of signatures of cosign 2. */
export const simpleSigningType = 'application/vnd.dev.cosign.simplesigning.v1+json';
/** The types of Sigstore's bundles, in every version. */
export const bundleType = /^application\/vnd\.dev\.sigstore\.bundle(?:\.v|\+json)/;
/** The configuration and the content of a chart: https://github.com/helm/community/blob/main/hips/hip-0006.md#3-oci-manifest */
export const chartConfigType = 'application/vnd.cncf.helm.config.v1+json';
export const chartContentType = 'application/vnd.cncf.helm.chart.content.v1.tar+gzip';
