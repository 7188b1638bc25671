/** What installs the charts and the other artifacts of the scene: Applications of Argo CD, OCIRepositories of Flux, and HelmReleases, each through a HelmRepository of its name. */
import { chartResources, failedWith, typeOf, upgraded } from '../end-to-end/chart-resources.ts';
import type { World } from '../end-to-end/world.ts';
import { pushBlob, pushChart, putManifest, type Pushed, type PushTarget } from '../harness/push-image.ts';
import { waitFor } from '../harness/wait-for.ts';
import type { Spec } from '../../src/service/resources/v1.ts';
import type { Subject } from './scene.ts';
import { asWorkload, type HelmRepository, type Installer, type InstallerKind } from './truth.ts';

/** What a policy updates that does not run images. */
export interface Installs {
  readonly kind: InstallerKind;
  readonly artifact: 'Chart' | 'Any';
  /** Whether the digest is written beside the tag, into an OCIRepository. */
  readonly isPinned?: boolean;
}

const installerKinds = ['application', 'ocirepository', 'helmrelease'] as const satisfies readonly InstallerKind[];
const fields: Readonly<Record<InstallerKind, string>> = {
  application: 'spec.source.targetRevision',
  ocirepository: 'spec.ref.tag',
  helmrelease: 'spec.chart.spec.version',
};

/** What the policy has in its spec because of that. */
export function specFor({ name }: Subject, { kind, artifact, isPinned = false }: Installs): Partial<Spec> {
  const own = { tag: fields[kind], ...(isPinned && { digest: 'spec.ref.digest' }) };
  return { artifact, targets: [{ ...typeOf(kind), name, fields: own }], ...(isPinned && { update: { pin: 'Digest' } }) };
}

/** Pushes a chart, or what `flux push artifact` pushes. */
export async function pushArtifact(target: PushTarget, artifact: Installs['artifact'], content: string): Promise<Pushed> {
  if (artifact === 'Chart') return pushChart({ ...target, content });
  const mediaType = 'application/vnd.oci.image.manifest.v1+json';
  const config = await pushBlob(target, 'application/vnd.cncf.flux.config.v1+json', Buffer.from('{}'));
  const layers = [await pushBlob(target, 'application/vnd.cncf.flux.content.v1.tar+gzip', Buffer.from(content))];
  return putManifest(target, target.tag, mediaType, { schemaVersion: 2, mediaType, config, layers });
}

/** The part of the spec that holds the version. A person who sets a version takes a digest away. */
function versionIn(kind: InstallerKind, version: string, digest?: null): object {
  const specs = {
    application: { source: { targetRevision: version } },
    ocirepository: { ref: { tag: version, ...(digest === null && { digest }) } },
    helmrelease: { chart: { spec: { version } } },
  } satisfies Record<InstallerKind, object>;
  return specs[kind];
}

function specOf({ name, host }: Subject, kind: InstallerKind, version: string): object {
  const sourceRef = { kind: 'HelmRepository', name };
  const specs = {
    application: {
      project: 'default',
      destination: { namespace: 'shop' },
      source: { repoURL: `${host}/shop`, chart: name, targetRevision: version },
    },
    ocirepository: { interval: '1h', url: `oci://${host}/shop/${name}`, ref: { tag: version } },
    helmrelease: { interval: '5m', chart: { spec: { chart: name, version, sourceRef } } },
  } satisfies Record<InstallerKind, object>;
  return specs[kind];
}

const tagOf = (image: string) => image.slice(image.lastIndexOf(':') + 1);

/** What people and the controllers of Flux and Argo CD do to them. */
export function playInstallers(world: World) {
  const { cluster } = world;
  const charts = chartResources(world);
  const pathOf = ({ name }: Subject, kind: InstallerKind) => `${charts.pathTo(kind)}/${name}`;
  const list = async <T>(kind: InstallerKind | 'helmrepository') =>
    (await cluster.request<{ items: T[] }>('GET', charts.pathTo(kind))).items;
  const helmRepository = ({ name }: Subject) => `${charts.pathTo('helmrepository')}/${name}`;
  const hasHelmRepository = (subject: Subject) =>
    cluster.request('GET', helmRepository(subject)).then(
      () => true,
      () => false,
    );
  const createHelmRepository = ({ name, host }: Subject) =>
    charts.create('helmrepository', name, { interval: '5m', type: 'oci', insecure: true, url: `oci://${host}/shop` });
  const readAll = async () => {
    const repositories = await list<HelmRepository>('helmrepository');
    const lists = await Promise.all(
      installerKinds.map(async (kind) => (await list<Installer>(kind)).map((raw) => asWorkload(typeOf(kind).kind, raw, repositories))),
    );
    return lists.flat();
  };
  return {
    /** All of them, with what they install as if containers ran it. */
    readAll,
    async deploy(subject: Subject, kind: InstallerKind, image: string) {
      await charts.create(kind, subject.name, specOf(subject, kind, tagOf(image)));
      if (kind === 'helmrelease' && !(await hasHelmRepository(subject))) await createHelmRepository(subject);
    },
    find: (subject: Subject, kind: InstallerKind) => cluster.request<object>('GET', pathOf(subject, kind)).catch(() => undefined),
    delete: (subject: Subject, kind: InstallerKind) => cluster.request('DELETE', pathOf(subject, kind)),
    setVersion: (subject: Subject, kind: InstallerKind, { image, manager }: { image: string; manager: string }) =>
      cluster.request(
        'PATCH',
        `${pathOf(subject, kind)}?fieldManager=${manager}`,
        { spec: versionIn(kind, tagOf(image), null) },
        'application/merge-patch+json',
      ),
    waitForImage: ({ name }: Subject, kind: InstallerKind, image: string) =>
      waitFor(`${kind} ${name} to install ${image}`, async () => {
        const own = (await readAll()).find((one) => one.kind === typeOf(kind).kind && one.metadata.name === name);
        return own?.spec.template.spec.containers.some((one) => one.image.split('@')[0] === image);
      }),
    /** Its controller has installed what it names now. */
    succeeds: ({ name }: Subject, kind: InstallerKind) =>
      kind === 'application'
        ? charts.reportApplication(name, 'Succeeded', 'successfully synced', 'Healthy')
        : charts.reportFlux(kind, name, upgraded),
    /** Its controller has tried to. */
    fails: ({ name }: Subject, kind: InstallerKind, message: string) =>
      kind === 'application'
        ? charts.reportApplication(name, 'Failed', message, 'Healthy')
        : charts.reportFlux(kind, name, failedWith(message)),
    isWorking: ({ name }: Subject, kind: 'helmrelease' | 'ocirepository') =>
      charts.reportFlux(kind, name, [
        ['Reconciling', 'True', 'Progressing', "Running 'upgrade' action with timeout of 5m0s"],
        ['Ready', 'Unknown', 'Progressing', "Running 'upgrade' action with timeout of 5m0s"],
      ]),
    /** Without it, nobody knows from where a HelmRelease installs its chart. */
    deleteHelmRepository: (subject: Subject) => cluster.request('DELETE', helmRepository(subject)),
    hasHelmRepository,
    createHelmRepository,
  };
}
