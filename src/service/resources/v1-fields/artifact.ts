import { z } from 'zod';
import { artifacts } from '../../../core/model/artifact.ts';

/** Schema of `spec.artifact`. It has no default, because the API server would write it into every policy, and older replicas stall on fields that they do not know. */
export const artifact = z
  .enum(artifacts)
  .describe(
    'What is selected in the repository, as the manifest of each tag shows: by default images that can run. Chart: OCI Helm charts. Any: everything but signatures, attestations and SBOMs. With Chart and Any, each target names fields.',
  );
