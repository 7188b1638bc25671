import { z } from 'zod';
import { isDigest } from '../../../core/model/image-reference.ts';
import { type Evidence, readReference } from './evidence.ts';
import { parseBoundedJson } from '../../../core/model/bounded-json.ts';

const label = 'io.buildpacks.lifecycle.metadata';
const maxLabel = 1024 * 1024;
const text = z.string().optional().catch(undefined);
const metadata = z.object({ runImage: z.object({ topLayer: text, reference: text, image: text }) });

/**
 * Finds the run image of Cloud Native Buildpacks: its reference by digest, and the diff id of its last layer, from which `pack rebase` continues. Builds
 * without a registry write the id of a local image as the reference, which is ignored. https://github.com/buildpacks/spec/blob/main/platform.md
 */
export const buildpacks: Evidence = {
  id: 'Buildpacks',
  find({ labels, aliases }) {
    const json = labels[label];
    if (json === undefined || json.length > maxLabel) return [];
    const { runImage } = parseMetadata(json) ?? {};
    const base = readReference(isDigest(runImage?.reference ?? '') ? undefined : runImage?.reference, aliases);
    const named = base ?? readReference(runImage?.image, aliases);
    const topLayer = runImage?.topLayer;
    const hasLayer = topLayer !== undefined && isDigest(topLayer);
    return named === undefined && !hasLayer ? [] : [{ by: 'Buildpacks', ...named, ...(hasLayer && { topLayer }) }];
  },
};

function parseMetadata(json: string): z.output<typeof metadata> | undefined {
  try {
    return metadata.safeParse(parseBoundedJson(json)).data;
  } catch {
    return undefined;
  }
}
