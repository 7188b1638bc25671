/** Policies that cannot select anything. */
import type { Spec } from '../../src/service/resources/v1.ts';
import { old, type State } from './state.ts';

/** A policy that cannot select anything. */
const unable = (
  name: string,
  why: readonly string[],
  { registry, ...more }: Partial<Spec> & Pick<State, 'registry'>,
  pushed: readonly string[] = [old],
): State => ({
  name,
  ...(registry && { registry }),
  async make(scene, subject) {
    if (registry !== 'down') for (const tag of pushed) await scene.push(subject, tag);
    await scene.deploy(subject, scene.imageOf(subject, old));
    await scene.createPolicy(subject, more);
    await scene.waitForReason(subject, ...why);
    subject.blind = true;
    return { wanted: '', why };
  },
});

/** All of them. */
export const unableStates: readonly State[] = [
  unable('without a tag that it selects', ['NoMatchingTag'], {}, ['main']),
  unable('without a repository', ['RepositoryNotFound'], {}, []),
  unable('with a registry that is down', ['RegistryUnavailable', 'Retrying'], { registry: 'down' }),
  unable('denied by its registry', ['RegistryDenied'], { registry: 'denied' }),
  unable('with a pattern that is none', ['InvalidTagPolicy'], { tags: { allow: '(' } }),
  unable('with a range that is none', ['InvalidTagPolicy'], { select: { semver: { range: '>>1' } } }),
];
