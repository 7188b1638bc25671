import { join } from 'node:path';
import { CachedBinary } from './binary-cache.ts';
import { buildGo } from './build-go.ts';
import { type Binary, checkBinary } from './check-binary.ts';
import { downloadEtcd, downloadKubernetes } from './download.ts';
import { installDebianPackage } from './install-debian-package.ts';
import { prepared } from './prepared.ts';
import { findOnPath } from './run-command.ts';
import * as tools from './tools.ts';

/** A place where a program may come from: it returns undefined if it has none, and throws if it has one that will not do. */
type Source = { name: string; find: () => Promise<Binary | undefined> };

/** The programs of a control plane. */
export type ControlPlaneBinaries = {
  etcd: string;
  etcdVersion: tools.Version;
  kubeApiServer: string;
  kubeControllerManager: string | undefined;
};

/** Finds or makes etcd, kube-apiserver and, on request, kube-controller-manager. */
export async function findControlPlane({ controllerManager }: { controllerManager: boolean }): Promise<ControlPlaneBinaries> {
  // One after the other: two builds at once take longer than both in turn.
  const etcd = await once(tools.etcd, etcdSources);
  const kubeApiServer = await once(tools.kubeApiServer, kubernetesSources);
  const manager = controllerManager ? await once(tools.kubeControllerManager, kubernetesSources) : undefined;
  return { etcd: etcd.path, etcdVersion: etcd.version, kubeApiServer: kubeApiServer.path, kubeControllerManager: manager?.path };
}

/** Finds or installs redis-server (or valkey-server). */
export async function findRedis(): Promise<string> {
  return (await once(tools.redisServer, (tool) => [onPath(tool), debianPackage(tool, 'redis-server')])).path;
}

/** Finds, installs or builds the Distribution registry. */
export async function findRegistry(): Promise<string> {
  return (await once(tools.registry, registrySources)).path;
}

/** Finds or builds Helm. */
export async function findHelm(): Promise<string> {
  return (await once(tools.helm, helmSources)).path;
}

/** Finds or builds Kustomize. */
export async function findKustomize(): Promise<string> {
  return (await once(tools.kustomize, kustomizeSources)).path;
}

/** Finds, downloads or builds kubectl. */
export async function findKubectl(): Promise<string> {
  return (await once(tools.kubectl, kubernetesSources)).path;
}

/** Finds or builds promtool. */
export async function findPromtool(): Promise<string> {
  return (await once(tools.promtool, promtoolSources)).path;
}

/** Finds or builds crane. */
export async function findCrane(): Promise<string> {
  return (await once(tools.crane, craneSources)).path;
}

/** Finds or builds a server with the API of S3. */
export async function findS3Server(): Promise<string> {
  return (await once(tools.s3Server, s3Sources)).path;
}

/** Finds or installs skopeo. */
export async function findSkopeo(): Promise<string> {
  return (await once(tools.skopeo, (tool) => [onPath(tool), debianPackage(tool, 'skopeo')])).path;
}

/** Finds or installs ShellCheck. */
export async function findShellcheck(): Promise<string> {
  return (await once(tools.shellcheck, (tool) => [onPath(tool), debianPackage(tool, 'shellcheck')])).path;
}

/** Finds or installs Chromium. */
export async function findChromium(): Promise<string> {
  return (await once(tools.chromium, (tool) => [onPath(tool), debianPackage(tool, 'chromium-headless-shell')])).path;
}

/** Why tests of the chart have to be skipped; undefined where Helm can be had. */
export const lacksHelm = (): Promise<string | undefined> => lacks(findHelm);

/** Why tests of the overlays have to be skipped; undefined where Kustomize can be had. */
export const lacksKustomize = (): Promise<string | undefined> => lacks(findKustomize);

/** Why commands of pages that use kubectl have to be skipped; undefined where it can be had. */
export const lacksKubectl = (): Promise<string | undefined> => lacks(findKubectl);

/** Why alerts cannot be tested; undefined where promtool can be had. */
export const lacksPromtool = (): Promise<string | undefined> => lacks(findPromtool);

/** Why crane cannot check images; undefined where it can be had. */
export const lacksCrane = (): Promise<string | undefined> => lacks(findCrane);

/** Why a bucket cannot be tested; undefined where a server with the API of S3 can be had. */
export const lacksS3Server = (): Promise<string | undefined> => lacks(findS3Server);

/** Why skopeo cannot copy images; undefined where it can be had. */
export const lacksSkopeo = (): Promise<string | undefined> => lacks(findSkopeo);

/** Why shell scripts cannot be examined; undefined where they can. */
export const lacksShellcheck = (): Promise<string | undefined> => lacks(findShellcheck);

/** Why pages cannot be looked at in a browser; undefined where one can be had. */
export const lacksChromium = (): Promise<string | undefined> => lacks(findChromium);

async function lacks(find: () => Promise<string>): Promise<string | undefined> {
  return find().then(
    () => undefined,
    (error: unknown) => (error as Error).message,
  );
}

function etcdSources(tool: tools.Tool): Source[] {
  const cached = new CachedBinary(tool, tools.etcdVersion);
  const module = 'go.etcd.io/etcd/server/v3';
  return [
    inAssets(tool),
    onPath(tool),
    { name: 'cache', find: () => cached.find() },
    { name: 'download', find: () => cached.findOrMake(downloadEtcd) },
    goBuild(cached, { name: tool.id, module, version: tools.etcdVersion, package: module, about: 'about 30 seconds' }),
  ];
}

function kubernetesSources(tool: tools.Tool): Source[] {
  const version = tools.kubernetesVersion;
  const cached = new CachedBinary(tool, version);
  const [, major, minor] = /^v(\d+)\.(\d+)/.exec(version) ?? [];
  // Without these the server calls itself v0.0.0.
  const names = { gitVersion: version, gitMajor: major, gitMinor: minor };
  const ldflags = Object.entries(names).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`);
  const module = 'k8s.io/kubernetes';
  return [
    inAssets(tool),
    onPath(tool),
    { name: 'cache', find: () => cached.find() },
    { name: 'download', find: () => cached.findOrMake((path) => downloadKubernetes(tool.id, path)) },
    goBuild(cached, {
      name: tool.id,
      module,
      version,
      package: `${module}/cmd/${tool.id}`,
      hasStagingModules: true,
      ldflags: ldflags.join(' '),
      about: tool === tools.kubeApiServer ? 'about 4 minutes' : 'about 1 minute',
    }),
  ];
}

function registrySources(tool: tools.Tool): Source[] {
  const cached = new CachedBinary(tool, tools.distributionVersion);
  const module = 'github.com/distribution/distribution/v3';
  return [
    onPath(tool),
    { name: 'cache', find: () => cached.find() },
    debianPackage(tool, 'docker-registry'),
    goBuild(cached, {
      name: tool.id,
      module,
      version: tools.distributionVersion,
      package: `${module}/cmd/registry`,
      about: 'about 1 minute',
    }),
  ];
}

/** A program of Go's module proxy: on the PATH, in the cache, or built; in minutes, or in seconds after the servers, which need much of the same. */
function goSources(
  tool: tools.Tool,
  version: string,
  build: Pick<Parameters<typeof goBuild>[1], 'module' | 'package' | 'ldflags' | 'tags' | 'about'>,
): Source[] {
  const cached = new CachedBinary(tool, version);
  return [
    onPath(tool),
    { name: 'cache', find: () => cached.find() },
    goBuild(cached, { name: tool.id, version, dependenciesOf: tools.kubernetesVersion, ...build }),
  ];
}

function helmSources(tool: tools.Tool): Source[] {
  const module = 'helm.sh/helm/v4';
  const ldflags = `-X ${module}/internal/version.version=${tools.helmVersion}`;
  return goSources(tool, tools.helmVersion, { module, package: `${module}/cmd/helm`, ldflags, about: '30 seconds to 4 minutes' });
}

function kustomizeSources(tool: tools.Tool): Source[] {
  const module = 'sigs.k8s.io/kustomize/kustomize/v5';
  const ldflags = `-X sigs.k8s.io/kustomize/api/provenance.version=${tools.kustomizeVersion}`;
  return goSources(tool, tools.kustomizeVersion, { module, package: module, ldflags, about: '10 seconds to 1 minute' });
}

function promtoolSources(tool: tools.Tool): Source[] {
  const module = 'github.com/prometheus/prometheus';
  const [, minor = '0'] = /^v0\.(\d+)/.exec(tools.prometheusVersion) ?? [];
  const ldflags = `-X github.com/prometheus/common/version.Version=${Math.floor(Number(minor) / 100)}.${Number(minor) % 100}.0`;
  // Without the discovery of services at cloud providers, which doubles what is built.
  const tags = 'remove_all_sd';
  return goSources(tool, tools.prometheusVersion, { module, package: `${module}/cmd/promtool`, ldflags, tags, about: '1 to 3 minutes' });
}

function craneSources(tool: tools.Tool): Source[] {
  const module = 'github.com/google/go-containerregistry';
  const ldflags = `-X ${module}/cmd/crane/cmd.Version=${tools.craneVersion}`;
  return goSources(tool, tools.craneVersion, { module, package: `${module}/cmd/crane`, ldflags, about: '10 to 30 seconds' });
}

function s3Sources(tool: tools.Tool): Source[] {
  const module = 'github.com/versity/versitygw';
  const ldflags = `-X main.Version=${tools.s3Version}`;
  return goSources(tool, tools.s3Version, { module, package: `${module}/cmd/versitygw`, ldflags, about: '1 to 2 minutes' });
}

function inAssets(tool: tools.Tool): Source {
  const folder = process.env['KUBEBUILDER_ASSETS'];
  return { name: 'KUBEBUILDER_ASSETS', find: async () => (folder ? checkBinary(join(folder, tool.id), tool) : undefined) };
}

function onPath(tool: tools.Tool): Source {
  const find = async () => {
    const path = findOnPath(tool.names, ['/usr/sbin', '/usr/local/bin', '/opt/homebrew/bin']);
    return path ? checkBinary(path, tool) : undefined;
  };
  return { name: 'PATH', find };
}

function debianPackage(tool: tools.Tool, name: string): Source {
  const find = async () => {
    await installDebianPackage(name);
    return onPath(tool).find();
  };
  return { name: `package ${name}`, find };
}

function goBuild(cached: CachedBinary, program: Parameters<typeof buildGo>[0]): Source {
  return { name: 'go build', find: () => cached.findOrMake((path) => buildGo(program, path)) };
}

const found = new Map<string, Promise<Binary>>();

/** All that has been found in this process, by the id of the tool. */
export async function foundBinaries(): Promise<Record<string, Binary>> {
  const results = await Promise.allSettled([...found].map(async ([id, binary]) => [id, await binary] as const));
  return Object.fromEntries(results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])));
}

function once(tool: tools.Tool, sources: (tool: tools.Tool) => Source[]): Promise<Binary> {
  const known = found.get(tool.id) ?? findBinary(tool, sources);
  found.set(tool.id, known);
  return known;
}

async function findBinary(tool: tools.Tool, sources: (tool: tools.Tool) => Source[]): Promise<Binary> {
  const ready = await prepared();
  return ready?.binaries[tool.id] ?? firstThatWorks(tool, sources(tool));
}

async function firstThatWorks(tool: tools.Tool, sources: Source[]): Promise<Binary> {
  const reasons: string[] = [];
  for (const source of sources) {
    try {
      const binary = await source.find();
      if (binary) return binary;
      reasons.push(`${source.name}: none`);
    } catch (error) {
      reasons.push(`${source.name}: ${(error as Error).message}`);
    }
  }
  throw new Error(
    `${tool.id} is needed and cannot be had. To help: ${tool.advice}. Tried:\n${reasons.map((reason) => `- ${reason}`).join('\n')}`,
  );
}
