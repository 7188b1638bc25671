/** The media types of layers. Those of Docker and of OCI denote the same bytes. */
import type { Descriptor } from './content.ts';
import { type Refusal, refuse } from './refusal.ts';

const pairs = [
  { docker: 'application/vnd.docker.image.rootfs.diff.tar.gzip', oci: 'application/vnd.oci.image.layer.v1.tar+gzip' },
  { docker: 'application/vnd.docker.image.rootfs.diff.tar', oci: 'application/vnd.oci.image.layer.v1.tar' },
  { docker: 'application/vnd.docker.image.rootfs.diff.tar.zstd', oci: 'application/vnd.oci.image.layer.v1.tar+zstd' },
];

/** Whether a manifest or an index has a media type of Docker. */
export function isDockerType(mediaType: string): boolean {
  return mediaType.startsWith('application/vnd.docker.');
}

/** Converts layers of one format for a manifest of the other. */
export function convertLayers(layers: readonly Descriptor[], isDocker: boolean, toDocker: boolean): readonly Descriptor[] | Refusal {
  if (isDocker === toDocker) return layers;
  const converted: Descriptor[] = [];
  for (const layer of layers) {
    const pair = pairs.find(({ docker, oci }) => layer.mediaType === docker || layer.mediaType === oci);
    if (pair === undefined)
      return refuse(
        'LayerFormat',
        `the base has a layer of the type ${layer.mediaType.replaceAll(/[^\x21-\x7e]/g, '?')}, which has no equal in the format of the application`,
      );
    converted.push({ ...layer, mediaType: toDocker ? pair.docker : pair.oci });
  }
  return converted;
}
