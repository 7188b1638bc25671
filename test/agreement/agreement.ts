/** Puts policies into all states, lets things happen to them, and finds where a view does not say what is so. */
import { createRandom } from '../simulation/random.ts';
import { compare } from './compare.ts';
import { happenings } from './happenings.ts';
import type { Scene, Subject } from './scene.ts';
import { states } from './states.ts';
import { truthOf, type Policy, type Workload } from './truth.ts';
import { readViews } from './views.ts';

/** Policies that are made at the same time. */
const atOnce = 6;

/** So many policies, in each state as many as in the others. */
export async function makePolicies(scene: Scene, count: number, onMade: (made: number) => void = () => undefined): Promise<Subject[]> {
  const hosts = { denied: scene.denied.host, down: '127.0.0.1:1' };
  const wanted = Array.from({ length: count }, (_, index) => {
    const state = states[index % states.length];
    if (state === undefined) throw new Error('there are no states');
    const host = state.registry === undefined ? scene.world.registry.host : hosts[state.registry];
    const name = `${state.name.toLowerCase().replaceAll(/[^a-z]+/g, '-')}-${index}`;
    const { name: kept, installs } = state;
    const subject: Subject = { name, state: kept, host, tags: [], known: { wanted: 'unknown' }, ...(installs && { installs }) };
    return { state, subject };
  });
  let made = 0;
  const queue = wanted.values();
  const makeNext = async () => {
    for (const { state, subject } of queue) {
      subject.known = await state.make(scene, subject);
      onMade(++made);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, makeNext));
  return wanted.map(({ subject }) => subject);
}

/** What is not said as it is, of all these policies; `closely`: of these, also what costs a request for each. */
export async function findDifferences(scene: Scene, subjects: readonly Subject[], closely: readonly Subject[] = []): Promise<string[]> {
  const { cluster, namespace } = scene.world;
  const looked = closely.map(({ name, host, pushed }) => ({
    name,
    ...(pushed !== undefined && { pushed: { repository: `${host}/shop/${name}`, tag: pushed } }),
  }));
  const [views, workloads, installers, policies] = await Promise.all([
    readViews(scene.viewer, looked),
    cluster.request<{ items: Workload[] }>('GET', `/apis/apps/v1/namespaces/${namespace}/deployments`),
    scene.installers.readAll(),
    cluster.request<{ items: Policy[] }>('GET', `/apis/operator.technomad.dev/v1/namespaces/${namespace}/imagepolicies`),
  ]);
  const all = [...workloads.items.map((workload) => ({ ...workload, kind: 'Deployment' })), ...installers];
  const byName = new Map(policies.items.map((policy) => [policy.metadata.name, policy]));
  return subjects.flatMap((subject) => {
    const policy = byName.get(subject.name);
    if (policy === undefined) return [`${subject.name} does not exist`];
    const outage = scene.isDown ? 'now' : 'before';
    const truth = { ...truthOf(policy, all, subject.known), ...(scene.wasDown && ({ outage } as const)) };
    return compare(truth, views(subject.name)).map((what) => `${subject.name}: ${what}`);
  });
}

/** What happened, and to which policy. */
export interface Happened {
  readonly what: string;
  readonly subject: Subject;
}

/** Random happenings, one after the other; the same seed gives the same ones. */
export function createChance(scene: Scene, subjects: readonly Subject[], seed: number): () => Promise<Happened> {
  const random = createRandom(seed);
  return async () => {
    for (;;) {
      const [subject, happening] = [random.pick(subjects), random.pick(happenings)];
      if (!(await happening.suits(scene, subject))) continue;
      subject.pushed = undefined;
      subject.known = await happening.run(scene, subject, random);
      return { what: happening.name, subject };
    }
  };
}
