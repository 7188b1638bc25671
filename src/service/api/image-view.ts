/** Images as the API shows them: where they run, their versions, their repositories. Pure. */
import { z } from 'zod';
import type { Immutable } from '../../core/model/immutable.ts';
import { defined } from '../../core/model/defined.ts';
import { policyKey } from '../../core/model/image-policy.ts';
import { stateOf } from '../../core/model/policy-state.ts';
import { refOf } from '../../core/model/workload.ts';
import { placeKey } from '../explain/image-versions.ts';
import { digestSources, placeStates, type Place } from '../explain/running-places.ts';
import { policyState, selectedImage } from './policy-view.ts';
import { namespaceName, objectName } from './route.ts';

export const placeView = z
  .object({
    repository: z.string(),
    tag: z.string().exactOptional().describe('Absent for a digest whose tag is not known.'),
    digest: z.string().exactOptional().describe('Absent if it is not known.'),
    digestFrom: z
      .enum(digestSources)
      .exactOptional()
      .describe(
        'How the digest is known. Image: the image names it. Change: the tag had it when image-watcher changed the container. Selection: the tag had it when the policy selected it.',
      ),
    image: z.string().describe('The image as the workload has it.'),
    apiVersion: z.string().exactOptional().describe('Of the workload; only of custom resources.'),
    kind: z.string(),
    namespace: namespaceName.describe('Where it runs.'),
    name: objectName.describe('Of the workload.'),
    container: z.string().describe('The container; `volumes/NAME` for an image volume; a field of a custom resource.'),
    pods: z.int().exactOptional().describe('How many pods the workload should have; absent for kinds that do not roll out.'),
    since: z
      .string()
      .exactOptional()
      .describe('It runs since then or longer: when image-watcher changed it, or when the owner of the field last wrote.'),
    policy: z.object({ namespace: namespaceName, name: objectName, state: policyState }).describe('The policy that selects the container.'),
    wants: selectedImage.exactOptional().describe('What the policy selects; absent while it selects nothing.'),
    state: z
      .enum(placeStates)
      .describe(
        'Behind: the policy would replace the image, if nothing were in the way. Kept: the policy leaves another image than the selected one alone. Current: the selected image runs. Unknown: nothing is selected, or the target cannot be compared.',
      ),
    reason: z.string().exactOptional().describe('Why it is not Current, one of docs/reasons.md.'),
    message: z.string().exactOptional(),
    behindSince: z.string().exactOptional(),
  })
  .meta({
    id: 'RunningImage',
    description: 'A container that runs an image of a policy. A container that several policies select has an entry for each.',
  });
export type PlaceView = Immutable<z.output<typeof placeView>>;

const counts = {
  places: z.int().describe('How many containers run it.'),
  behind: z.int().describe('How many of them are Behind.'),
};

export const repositoryView = z
  .object({
    repository: z.string(),
    ...counts,
    versions: z.int().describe('How many different versions run.'),
    namespaces: z.int().describe('In how many namespaces.'),
    policies: z.int().describe('How many policies select its containers.'),
  })
  .meta({ id: 'Repository', description: 'A repository whose images run.' });
export type RepositoryView = Immutable<z.output<typeof repositoryView>>;

export const versionView = z
  .object({
    repository: z.string(),
    tag: z.string().exactOptional(),
    digest: z.string().exactOptional().describe('Absent if it is not known.'),
    firstSeenAt: z.string().exactOptional().describe('When it was first selected or run, as far as that is known.'),
    ...counts,
    namespaces: z
      .array(
        z
          .object({
            namespace: namespaceName,
            ...counts,
            isWanted: z.boolean().describe('Whether a policy selects this version for a workload of the namespace.'),
          })
          .meta({ id: 'ImageVersionInNamespace' }),
      )
      .describe('The namespaces that run it, or for which it is selected.'),
  })
  .meta({ id: 'ImageVersion', description: 'A version of a repository, which runs somewhere or is selected for somewhere.' });
export type VersionView = Immutable<z.output<typeof versionView>>;

/** Where an image runs, as the API shows it. */
export function showPlace(place: Place): PlaceView {
  const { policy, workload, container, repository, image, state, wants } = place;
  const { tag, digest, digestFrom, since, reason, message, behindSince } = place;
  const { namespace, name } = policy;
  return {
    repository,
    image,
    ...refOf(workload),
    container,
    policy: { namespace, name, state: stateOf(policy) },
    state,
    ...(wants && { wants: { tag: wants.tag, ...defined({ digest: wants.digest }) } }),
    ...defined({ tag, digest, digestFrom, since, reason, message, behindSince, pods: workload.rollout?.wanted }),
  };
}

/** The position of a place in lists, which begins with what needs attention: RANK:REPOSITORY|WORKLOAD/CONTAINER|POLICY. */
export function positionOf(place: Place): string {
  // Paths of fields may contain spaces.
  const key = encodeURI(placeKey(place).toWellFormed());
  return `${placeStates.indexOf(place.state)}:${place.repository}|${key}|${policyKey(place.policy)}`;
}
