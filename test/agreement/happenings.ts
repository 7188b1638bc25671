/** What people, CI, other tools and the registry do to a policy, and what the cluster says afterwards. */
import type { Random } from '../simulation/random.ts';
import type { Scene, Subject } from './scene.ts';
import type { InstallerKind, Known } from './truth.ts';

export interface Happening {
  readonly name: string;
  /** Whether it can happen to the policy now. */
  readonly suits: (scene: Scene, subject: Subject) => boolean | Promise<boolean>;
  /** Resolves when it has happened, with what is so then. */
  readonly run: (scene: Scene, subject: Subject, random: Random) => Promise<Known>;
}

/** What the policy selects by now, where it follows versions and can look. */
function after(scene: Scene, subject: Subject, why?: readonly string[]): Known {
  const { tags, blind = false, suspended = false, broken = false } = subject;
  const versions = tags.filter((tag) => /^\d+\.\d+\.\d+$/.test(tag)).sort(byVersion);
  const looks = !blind && !suspended && !broken && !scene.isDown;
  const wanted = followsVersions(subject) && looks ? (versions.at(-1) ?? 'unknown') : 'unknown';
  return { wanted, ...(why && { why }) };
}

/** The others wait for the age, the signature or the platform of an image, or follow a digest. */
const followsVersions = ({ state }: Subject) =>
  !/^(?:waiting for its age|without a (?:signature|platform)|following a digest)$/.test(state);

function byVersion(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}

const isAnnounced = (scene: Scene, { host }: Subject) => host === scene.world.registry.host && !scene.isDown;
/** Some states have no Deployment or installer of the name of the policy, or it has been deleted. */
const hasTarget = async (scene: Scene, subject: Subject) => (await scene.findTarget(subject)) !== undefined;
const hasDeployment = async (scene: Scene, subject: Subject) => subject.installs === undefined && (await hasTarget(scene, subject));

async function push(scene: Scene, subject: Subject, tag: string): Promise<Known> {
  await scene.push(subject, tag);
  subject.pushed = tag;
  return after(scene, subject);
}

const setImage = (name: string, tagOf: (random: Random) => string, manager: string): Happening => ({
  name,
  suits: hasTarget,
  async run(scene, subject, random) {
    await scene.setImage(subject, scene.imageOf(subject, tagOf(random)), manager);
    return { wanted: subject.known.wanted };
  },
});

const isHelmRelease = ({ installs }: Subject) => installs?.kind === 'helmrelease';

/** The controller of what installs a chart writes its status. */
const reportOf = (name: string, report: (scene: Scene, subject: Subject, kind: InstallerKind) => Promise<unknown>): Happening => ({
  name,
  suits: async (scene, subject) => subject.installs !== undefined && (await hasTarget(scene, subject)),
  async run(scene, subject) {
    if (subject.installs) await report(scene, subject, subject.installs.kind);
    return { wanted: subject.known.wanted };
  },
});

const annotation = (
  name: string,
  values: (scene: Scene, subject: Subject) => Promise<Readonly<Record<string, string>> | undefined>,
): Happening => ({
  name,
  suits: async (scene, subject) => (await values(scene, subject)) !== undefined,
  async run(scene, subject) {
    await scene.annotate(subject, (await values(scene, subject)) ?? {});
    return { wanted: subject.known.wanted };
  },
});

const brokenBecause = ({ broken }: Subject) => (broken === true ? ['InvalidTagPolicy'] : undefined);

const edit = (
  name: string,
  spec: object,
  suits: (subject: Subject) => boolean = () => true,
  more: (subject: Subject) => void = () => undefined,
): Happening => ({
  name,
  suits: (_, subject) => suits(subject),
  async run(scene, subject) {
    await scene.patchPolicy(subject, spec);
    more(subject);
    return after(scene, subject, brokenBecause(subject));
  },
});

/** All of them, each as likely as the others. */
export const happenings: readonly Happening[] = [
  {
    name: 'a newer version is pushed',
    suits: isAnnounced,
    run: (scene, subject, random) => push(scene, subject, `1.${10 + subject.tags.length}.${random.integer(0, 9)}`),
  },
  {
    name: 'an older version is pushed',
    suits: isAnnounced,
    run: (scene, subject, random) => push(scene, subject, `0.${random.integer(1, 9)}.${subject.tags.length}`),
  },
  {
    name: 'a tag that is not selected is pushed',
    suits: isAnnounced,
    run: (scene, subject) => push(scene, subject, `main-${subject.tags.length}`),
  },
  {
    name: 'a chart is pushed among images, or an image among charts',
    suits: (scene, subject) => isAnnounced(scene, subject) && subject.installs?.artifact !== 'Any',
    async run(scene, subject, random) {
      await scene.pushOther(subject, `1.${10 + subject.tags.length}.${random.integer(10, 99)}`);
      return after(scene, subject);
    },
  },
  setImage('somebody sets an older image', (random) => `0.${random.integer(1, 9)}.0`, 'kubectl-set'),
  setImage('somebody sets a newer image', (random) => `9.${random.integer(1, 9)}.0`, 'kubectl-edit'),
  setImage('a GitOps tool sets an older image', () => '0.1.0', 'argocd-controller'),
  edit(
    'it is suspended',
    { suspend: true },
    ({ suspended }) => suspended !== true,
    (subject) => void (subject.suspended = true),
  ),
  edit(
    'it is resumed',
    { suspend: false },
    ({ suspended }) => suspended === true,
    (subject) => void (subject.suspended = false),
  ),
  edit(
    'its spec is broken',
    { tags: { allow: '(' } },
    ({ blind, broken }) => blind !== true && broken !== true,
    (subject) => void (subject.broken = true),
  ),
  edit(
    'its spec is mended',
    { tags: null },
    ({ broken }) => broken === true,
    (subject) => void (subject.broken = false),
  ),
  edit('it becomes a dry run', { update: { mode: 'DryRun' } }),
  edit('it demands approval', { update: { mode: 'Approval' } }),
  edit('it updates by itself', { update: { mode: 'Automatic' } }),
  edit('it gets a window', { update: { windows: [{ days: ['Mon'], from: '03:00', to: '03:01', timeZone: 'Etc/GMT+12' }] } }),
  edit('it loses its windows', { update: { windows: null } }),
  {
    name: 'it is deleted and created again',
    suits: () => true,
    async run(scene, subject) {
      await scene.recreatePolicy(subject);
      return after(scene, subject, brokenBecause(subject));
    },
  },
  {
    name: 'its registry goes down',
    suits: isAnnounced,
    async run(scene, subject) {
      await scene.world.registry.kill9();
      scene.isDown = true;
      scene.wasDown = true;
      return { wanted: subject.known.wanted };
    },
  },
  {
    name: 'its registry comes back',
    suits: (scene) => scene.isDown,
    async run(scene, subject) {
      await scene.world.registry.restart();
      scene.isDown = false;
      return { wanted: subject.known.wanted };
    },
  },
  {
    name: 'its Deployment is paused',
    suits: hasDeployment,
    run: async (scene, subject) => {
      await scene.patchDeployment(subject, { spec: { paused: true } });
      return { wanted: subject.known.wanted };
    },
  },
  {
    name: 'its Deployment goes on',
    suits: hasDeployment,
    run: async (scene, subject) => {
      await scene.patchDeployment(subject, { spec: { paused: false } });
      return { wanted: subject.known.wanted };
    },
  },
  {
    name: 'its target is deleted',
    suits: hasTarget,
    run: async (scene, subject) => {
      await scene.deleteTarget(subject);
      return { wanted: subject.known.wanted };
    },
  },
  {
    name: 'its target is created anew',
    suits: async (scene, subject) =>
      subject.tags.length > 0 && !(await hasTarget(scene, subject)) && !subject.state.startsWith('with several'),
    run: async (scene, subject) => {
      await scene.deploy(subject, scene.imageOf(subject, subject.tags[0] ?? ''));
      return { wanted: subject.known.wanted };
    },
  },
  {
    name: 'its HelmRepository is deleted',
    suits: async (scene, subject) => isHelmRelease(subject) && (await scene.installers.hasHelmRepository(subject)),
    run: async (scene, subject) => {
      await scene.installers.deleteHelmRepository(subject);
      return { wanted: subject.known.wanted };
    },
  },
  {
    name: 'its HelmRepository is created again',
    suits: async (scene, subject) => isHelmRelease(subject) && !(await scene.installers.hasHelmRepository(subject)),
    run: async (scene, subject) => {
      await scene.installers.createHelmRepository(subject);
      return { wanted: subject.known.wanted };
    },
  },
  reportOf('what it names is installed', (scene, subject, kind) => scene.installers.succeeds(subject, kind)),
  reportOf('what it names cannot be installed', (scene, subject, kind) =>
    scene.installers.fails(subject, kind, 'Helm upgrade failed: template: no such field'),
  ),
  annotation('what waits is approved', async (scene, subject) => {
    const { pendingApproval: pending } = await scene.readStatus(subject);
    return pending && { approve: `${pending.tag}@${pending.digest}` };
  }),
  annotation('it is released', async () => ({ release: new Date().toISOString() })),
  annotation('it is rolled back', async (scene, subject) => {
    const { history } = await scene.readStatus(subject);
    return history === undefined ? undefined : { 'rollback-to': `previous ${new Date().toISOString()}` };
  }),
  annotation('a check is asked for', async () => ({ 'requested-at': new Date().toISOString() })),
];
