import { annotation } from './annotation.ts';
import { buildpacks } from './buildpacks.ts';
import type { Evidence } from './evidence.ts';
import { provenance } from './provenance.ts';

/** Every kind of evidence in which an image names its base, the most reliable first. If they differ, the layers (`layers.ts`) decide. All steps to add one: test/structure/worked-examples/evidence.ts. */
export const evidence: readonly Evidence[] = [annotation, buildpacks, provenance];
