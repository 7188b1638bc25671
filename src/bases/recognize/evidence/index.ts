import { annotation } from './annotation.ts';
import { buildpacks } from './buildpacks.ts';
import type { Evidence } from './evidence.ts';
import { provenance } from './provenance.ts';

/** Every kind of evidence in which an image names its base, the most reliable first. The layers (`layers.ts`) decide between them. */
export const evidence: readonly Evidence[] = [annotation, buildpacks, provenance];
