/** The bases in two registries, and the applications on them, with what is to be said of each. */
import { all } from '../end-to-end/base-fleet.ts';
import { builders, type Builder, copied, plain } from './applications.ts';
import { baseOf, pushVersion, runtimeFiles, type Version } from './bases.ts';
import { type Image, writeImage, writeReferrer } from './oci-layout.ts';
import { push, pushReferrer, remove } from './skopeo.ts';

/** The bases, each of which gets a policy of this name. */
export type Base = 'java' | 'framework' | 'node' | 'python' | 'nginx';
type State = 'Current' | 'Behind' | 'OtherLine' | 'Unknown' | 'Unrelated';

export interface Application {
  readonly name: string;
  readonly base: Base;
  /** The version that it was built on. */
  readonly on: Version;
  readonly build: Builder;
  /** What the policy of its base says first. */
  readonly state: State;
  /** How the base is recognized. */
  readonly by?: string;
  /** Why it cannot be rebased. */
  readonly refused?: string;
}

/** Whether it is to follow its base. */
export const follows = ({ by, refused, state }: Application): boolean => by !== undefined && refused === undefined && state !== 'OtherLine';

/** Where an application is before it is rebased. */
export const imageOf = ({ name, on }: Pick<Application, 'name' | 'on'>): string => `${on.name.split('/')[0]}/shop/${name}:1.0.0`;

/** Pushes an application. */
export async function pushApplication({ name, on, build }: Application): Promise<void> {
  const { image, format, referrer } = build(name, on);
  const layout = writeImage(image);
  const pushed = imageOf({ name, on });
  await push(layout, pushed, format);
  if (referrer !== undefined) await pushReferrer(layout.digest, pushed.replace(/:[^:]*$/, ''), writeReferrer(layout.digest, referrer));
}

export type Javas = Readonly<Record<'old' | 'current' | 'musl' | 'legacy' | 'framework', Version>>;

const javaOf = (version: string, patch?: string): Image => baseOf('java', version, { distribution: 'debian', ...(patch && { patch }) });
const muslOf = (version: string): Image => baseOf('java', version, { distribution: 'alpine' });

/** A patch of Java and of the distribution below it, which has no layer of those before. */
export const pushPatchedJava = ({ current: { name } }: Javas): Promise<Version> => pushVersion(name, '21.0.3', javaOf('21.0.3', '2'));

/** A framework on a version of Java, which is a base itself. */
export function frameworkOn({ layers, ...java }: Image): Image {
  return { ...java, layers: [...layers, { entries: (platform) => runtimeFiles('framework', '3.1.0', platform) }] };
}

/** Three lines of Java in one repository, and a framework on it. */
export async function pushJavas(host: string): Promise<Javas> {
  const name = `${host}/library/java`;
  const old = await pushVersion(name, '21.0.0', javaOf('21.0.0'));
  const current = await pushVersion(name, '21.0.1', javaOf('21.0.1'));
  const musl = await pushVersion(name, '21.0.1-alpine', muslOf('21.0.1'));
  const legacy = await pushVersion(name, '17.0.9', javaOf('17.0.9'));
  const framework = await pushVersion(`${host}/library/framework`, '3.1.0', frameworkOn(current.image));
  return { old, current, musl, legacy, framework };
}

/** The next version of each line; returns that of the selected one. */
export async function pushNextJavas({ current: { name } }: Javas): Promise<Version> {
  await pushVersion(name, '21.0.2-alpine', muslOf('21.0.2'));
  await pushVersion(name, '17.0.10', javaOf('17.0.10'));
  return pushVersion(name, '21.0.2', javaOf('21.0.2'));
}

const recognizedBy: Readonly<Record<string, string>> = {
  annotated: 'Annotation',
  labelled: 'Annotation',
  packed: 'Buildpacks',
  attested: 'Provenance',
  silent: 'Layers',
  zstd: 'Layers',
};

/** Four applications of each kind on Java, half of them on the version before, and others that are not to be moved. */
export function javaApplications({ old, current, musl, legacy, framework }: Javas): Application[] {
  const { squashed, ...kinds } = builders;
  const onJava = Object.entries(kinds).flatMap(([kind, ways]) =>
    Array.from({ length: 4 }, (_, index): Application => {
      const build = ways[index % ways.length] ?? plain();
      const isOld = index >= 2;
      const state = isOld ? 'Behind' : 'Current';
      return { name: `${kind}-${index}`, base: 'java', on: isOld ? old : current, build, state, by: recognizedBy[kind] ?? '' };
    }),
  );
  const other = (name: string, on: Version, build: Builder, state: State, by?: string): Application => ({
    name,
    base: 'java',
    on,
    build,
    state,
    ...(by && { by }),
  });
  return [
    ...onJava,
    other('recompressed', old, plain({ compression: 'zstd', isRecompressed: true }), 'Behind', 'Layers'),
    other('copied-ubi', current, copied('ubi', 'other'), 'Unrelated'),
    other('copied-suse', old, copied('suse', 'other'), 'Unrelated'),
    // It begins with the lowest layer of Java, so that it may be built on a version that nobody knows.
    other('copied-debian', current, copied('debian'), 'Unknown'),
    ...squashed.map((build, index) => other(`squashed-${index}`, old, build, index < 2 ? 'Unknown' : 'Unrelated')),
    other('musl-silent', musl, plain(), 'OtherLine', 'Layers'),
    ...builders.annotated.slice(0, 1).map((build) => other('musl-annotated', musl, build, 'OtherLine', 'Annotation')),
    other('legacy-silent', legacy, plain(), 'OtherLine', 'Layers'),
    ...builders.packed.slice(0, 1).map((build) => other('legacy-packed', legacy, build, 'OtherLine', 'Buildpacks')),
    ...builders.annotated.map((build, index): Application => {
      return { name: `framed-${index}`, base: 'framework', on: framework, build, state: 'Current', by: 'Annotation' };
    }),
  ];
}

/** 130 versions of a base, and applications on the first, one in the middle and the last. */
export async function pushMany(host: string): Promise<{ newest: Version; applications: Application[] }> {
  const pushPatch = (patch: number) => {
    const image = { ...baseOf('nginx', `1.0.${patch}`, { distribution: 'suse' }), platforms: ['linux/amd64'] };
    return pushVersion(`${host}/library/nginx`, `1.0.${patch}`, image);
  };
  // The first one brings the layer that all of them have: registries answer with errors while it is written several times.
  const versions = [await pushPatch(0)];
  const patches = Array.from({ length: 129 }, (_, index) => index + 1);
  await all(patches, async (patch) => {
    versions[patch] = await pushPatch(patch);
  });
  const of = (name: string, patch: number, state: State): Application => {
    const on = versions[patch];
    if (on === undefined) throw new Error(`there is no version ${patch}`);
    return { name, base: 'nginx', on, build: plain({ platforms: ['linux/amd64'] }), state, by: 'Layers' };
  };
  const applications = [of('nginx-oldest', 0, 'Behind'), of('nginx-middle', 64, 'Behind'), of('nginx-newest', 129, 'Current')];
  return { newest: applications[2]?.on as Version, applications };
}

/** Pushes another image under the mutable tag of Node. */
export function pushNode(host: string, push: number): Promise<Version> {
  const image = baseOf('node', `20.1.${push}`, { distribution: 'alpine', patch: `node ${push}`, compression: 'zstd' });
  return pushVersion(`${host}/library/node`, '20', image);
}

/** A tag of Python that has moved before anybody watched it, and applications on what it was. */
export async function pushMovedPython(host: string): Promise<{ now: Version; applications: Application[] }> {
  const name = `${host}/library/python`;
  const push = (version: string) => pushVersion(name, '3', baseOf('python', version, { distribution: 'ubi' }));
  const lost = await push('3.12.1');
  await remove(`${name}:3`);
  const [former, early, now] = [await push('3.12.2'), await push('3.12.3'), await push('3.12.4')];
  const [annotated = plain()] = builders.annotated;
  const [labelled = plain()] = builders.labelled;
  const applications: Application[] = [
    { name: 'python-annotated', base: 'python', on: early, build: annotated, state: 'Behind', by: 'Annotation' },
    { name: 'python-labelled', base: 'python', on: early, build: labelled, state: 'Behind', by: 'Annotation' },
    // What it names is gone from the registry.
    { name: 'python-lost', base: 'python', on: lost, build: annotated, state: 'Behind', by: 'Annotation', refused: 'NotFound' },
    // Nothing names what it is built on.
    { name: 'python-silent', base: 'python', on: former, build: plain(), state: 'Unknown' },
    { name: 'python-current', base: 'python', on: now, build: plain(), state: 'Current', by: 'Layers' },
  ];
  return { now, applications };
}
