/** Two processes that ask checks through proxies of their own, the servers and Jobs that answer as scripts say, and a watch of all that comes of it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CheckRecord } from '../../src/core/model/check-record.ts';
import type { PolicyStatus } from '../../src/core/model/policy-status.ts';
import { isObject } from '../../src/core/model/untyped.ts';
import { startEndpoint, startPrometheus, verdict, type Reply } from '../harness/check-servers.ts';
import { startKubeProxy, type KubeArrival, type KubeFault } from '../harness/kube-proxy.ts';
import { shippedRules } from '../harness/shipped-permissions.ts';
import { tempFolder } from '../harness/temp-folder.ts';
import { waitFor } from '../harness/wait-for.ts';
import { watchObjects } from '../harness/watch-objects.ts';
import { writeKubeconfig } from '../service/kube/fake-api-server.ts';
import { runPods } from './base-fleet.ts';
import type { Fault, Line, Moment, Script } from './check-scripts.ts';
import { startWorld, type Deployment, type Service, type World } from './world.ts';

export const checkName = 'check';
const key = 'a key of checks';
/** How often the pod of a slow Job is looked at before it ends. */
const looksOfSlowJob = 10;
const annotation = (name: string) => `operator.technomad.dev/check-${name}`;

interface Watched {
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
}
interface Job extends Watched {
  readonly metadata: Watched['metadata'] & { readonly annotations?: Readonly<Record<string, string>> };
}
export type StormWorld = Awaited<ReturnType<typeof startStormWorld>>;

/** Starts everything; `current` tells the script of a policy that is played now. */
export async function startStormWorld(current: ReadonlyMap<string, { readonly line: Line; readonly script: Script }>) {
  const world = await startWorld({ controllers: true, extraRules: shippedRules('work-checks') });
  const kubelet = runPods(world.cluster, world.namespace);
  const seen = await watchStorm(world);
  const killed = new Set<string>();
  const asked = new Map<string, number>();
  const count = (id: string) => {
    const earlier = asked.get(id) ?? 0;
    asked.set(id, earlier + 1);
    return earlier;
  };
  /** Whether this is the moment at which the script of a policy kills, and the first time that it comes. */
  const isMoment = (name: string, tag: string, moments: readonly Moment[]): Moment | undefined => {
    const script = current.get(name)?.script;
    if (script?.kill === undefined || script.tag !== tag || !moments.includes(script.kill) || killed.has(`${name} ${tag}`))
      return undefined;
    killed.add(`${name} ${tag}`);
    return script.kill;
  };

  const services: Service[] = [];
  // A process is killed only when it is up, so that each kill is one.
  const ups: Promise<void>[] = [Promise.resolve(), Promise.resolve()];
  const kill = (index: number): Promise<void> => {
    const dead = ups[index]!.then(() => services[index]?.kill9());
    ups[index] = dead.then(() => services[index]?.restart());
    ups[index].catch(() => {});
    return dead;
  };
  const replyTo = (name: string, tag: string, earlier: number, answers: Readonly<Record<'pass' | 'fail', Reply>>): Reply => {
    const script = current.get(name)?.script;
    if (script?.tag !== tag) return { status: 410, body: `${tag} is not played` };
    if (isMoment(name, tag, ['asked']) !== undefined) {
      void kill(0);
      void kill(1);
      return 'silence';
    }
    if (script.verdict === 'never') return faulty(script.faults[0] ?? 'refused', answers.pass);
    const fault = script.faults[earlier];
    return fault === undefined ? answers[script.verdict] : faulty(fault, answers[script.verdict]);
  };
  const endpoint = await startEndpoint(key, ({ data: { subject, tag } }, earlier) =>
    replyTo(subject.name, tag, earlier, { pass: verdict('pass'), fail: verdict('fail', 'it is bad') }),
  );
  const prometheus = await startPrometheus((query) => {
    const name = query.replaceAll('_', '-');
    const tag = current.get(name)?.script.tag ?? '';
    return replyTo(name, tag, count(`${name} ${tag}`), { pass: vector('0'), fail: vector('5') });
  });
  kubelet.ends = (annotations) => {
    const name = annotations[annotation('policy')] ?? '';
    const script = current.get(name)?.script;
    if (script === undefined || script.tag !== annotations[annotation('tag')] || script.verdict === 'never') return undefined;
    if (count(`${name} ${script.tag}`) < script.faults.length * looksOfSlowJob) return undefined;
    return script.verdict === 'pass' ? 'Succeeded' : 'Failed';
  };
  // Pods that come up after the verdict are those of an image that goes back.
  const slow = (image: string) =>
    [...current.values()].some(({ line, script }) => script.isSlow && image === `${world.quiet.host}/shop/${line.name}:${script.tag}`);
  kubelet.holds = slow;

  const intercept =
    (index: number) =>
    async (request: KubeArrival): Promise<KubeFault | undefined> => {
      const moment = writesOf(request, seen.imageOf)
        .map(({ name, tag, what }) => isMoment(name, tag, [`${what} lost`, `${what} done`]))
        .find((one) => one !== undefined);
      if (moment === undefined) return undefined;
      await kill(index);
      return moment.endsWith('lost') ? { status: 503 } : { loseAnswer: true };
    };
  const proxies = await Promise.all(ups.map(() => startKubeProxy(world.cluster, world.kubeconfig)));
  const servers = [
    { name: 'main', url: prometheus.origin },
    { name: 'gone', url: 'http://prometheus.invalid' },
  ];
  const config = { checks: { hosts: [endpoint.host, 'http://checks.invalid'], prometheus: servers, jobs: true } };
  for (const [index, proxy] of proxies.entries()) {
    const tokenFile = join(tempFolder('token'), 'token');
    writeFileSync(tokenFile, 'token');
    proxy.tokens.add('token');
    proxy.intercept = intercept(index);
    services.push(await world.start({ kubeconfig: writeKubeconfig(proxy.server, { tokenFile }), config }));
  }
  return {
    world,
    services,
    seen,
    killed,
    endpoint,
    kubelet,
    /** Resolves when all that was killed is up again. */
    allUp: async () => void (await Promise.all(ups)),
    url: (isGone: boolean) => (isGone ? 'http://checks.invalid/verdicts' : endpoint.url),
    key,
    async stop() {
      seen.stop();
      await Promise.allSettled(ups);
      await kubelet.stop();
      await world.stop();
      await Promise.all([endpoint.stop(), prometheus.stop(), ...proxies.map((proxy) => proxy.stop())]);
    },
  };
}

const vector = (value: string): Reply => prometheusReply('vector', [{ metric: {}, value: [1_700_000_000, value] }]);

function prometheusReply(resultType: string, result: unknown): Reply {
  return { status: 200, body: JSON.stringify({ status: 'success', data: { resultType, result } }) };
}

/** What a server with a fault answers in the place of `answer`. */
function faulty(fault: Fault, answer: Reply): Reply {
  switch (fault) {
    case 'slow':
      return typeof answer === 'string' ? answer : { ...answer, afterMs: 1_500 };
    case 'nothing':
      return prometheusReply('vector', []);
    case 'NaN':
      return vector('NaN');
    case 'no number':
      return prometheusReply('matrix', []);
    case 'reset':
    case 'silence':
      return fault;
    default:
      return { status: 500, body: '{"verdict":"pass"}' };
  }
}

/** What a request writes about which image of which policy. Deployments have the names of their policies. */
function writesOf(
  { method, url, body }: KubeArrival,
  imageOf: (name: string) => string | undefined,
): { readonly name: string; readonly tag: string; readonly what: 'verdict' | 'job' | 'change' | 'back' }[] {
  const [path = ''] = url.split('?');
  const parts = path.split('/');
  if (method === 'POST' && parts.at(-1) === 'jobs') {
    const { annotations = {} } = (JSON.parse(body) as Job).metadata;
    return [{ name: annotations[annotation('policy')] ?? '', tag: annotations[annotation('tag')] ?? '', what: 'job' }];
  }
  if (method !== 'PATCH') return [];
  if (parts.at(-1) === 'status' && parts.at(-3) === 'imagepolicies') {
    const { status } = JSON.parse(body) as { status?: PolicyStatus };
    const decided = (status?.checks ?? []).filter(({ state }) => state !== 'Running');
    return decided.map(({ tag }) => ({ name: parts.at(-2) ?? '', tag, what: 'verdict' as const }));
  }
  if (parts.at(-2) !== 'deployments' || !isWrittenImage(body)) return [];
  const name = parts.at(-1) ?? '';
  const running = imageOf(name)?.split(':').at(-1) ?? '';
  const next = tagIn(body, name);
  return next === undefined ? [] : isNewer(next, running) ? [{ name, tag: next, what: 'change' }] : [{ name, tag: running, what: 'back' }];
}

const isWrittenImage = (body: string) => body.includes('/image"');

/** The tag that a JSON Patch writes to a container. */
function tagIn(body: string, name: string): string | undefined {
  const operations: unknown = JSON.parse(body);
  const found = Array.isArray(operations) ? operations : [];
  for (const one of found) {
    if (!isObject(one) || one['op'] === 'test') continue;
    const { path, value } = one;
    if (typeof path === 'string' && path.endsWith('/image') && typeof value === 'string' && value.includes(`/${name}:`))
      return value.split(':').at(-1);
  }
  return undefined;
}

const isNewer = (a: string, b: string) => Number(a.split('.').at(-1)) > Number(b.split('.').at(-1));

/** A state of a check, and the version of its policy in which it was seen first. */
interface SeenState {
  readonly state: CheckRecord['state'];
  readonly version: bigint;
}

/** Follows policies, Deployments and Jobs, so that no state of them is missed. */
async function watchStorm({ cluster, namespace }: World) {
  const policies = new Map<string, PolicyStatus>();
  /** `policy tag` → id → the states of the record, in their order. */
  const checks = new Map<string, Map<string, SeenState[]>>();
  const images = new Map<string, { readonly tag: string; readonly version: bigint }[]>();
  const running = new Map<string, string>();
  const jobs = new Map<string, Set<string>>();
  const onPolicy = ({ metadata: { name, resourceVersion }, status = {} }: Watched & { readonly status?: PolicyStatus }) => {
    policies.set(name, status);
    for (const { id, tag, state } of status.checks ?? []) {
      const ids = checks.get(`${name} ${tag}`) ?? new Map<string, SeenState[]>();
      const states = ids.get(id) ?? [];
      if (states.at(-1)?.state !== state) states.push({ state, version: BigInt(resourceVersion) });
      checks.set(`${name} ${tag}`, ids.set(id, states));
    }
  };
  const onDeployment = ({ metadata: { name, resourceVersion }, spec }: Deployment & Watched) => {
    const image = spec.template.spec.containers[0]?.image ?? '';
    if (running.get(name) === image) return;
    running.set(name, image);
    images.set(name, [...(images.get(name) ?? []), { tag: image.split(':').at(-1) ?? '', version: BigInt(resourceVersion) }]);
  };
  const onJob = ({ metadata: { uid, annotations = {} } }: Job) => {
    const about = `${annotations[annotation('policy')]} ${annotations[annotation('tag')]} ${annotations[annotation('id')]}`;
    jobs.set(about, (jobs.get(about) ?? new Set()).add(uid));
  };
  const watches = [
    await watchObjects(cluster, `/apis/operator.technomad.dev/v1/namespaces/${namespace}/imagepolicies`, onPolicy),
    await watchObjects(cluster, `/apis/apps/v1/namespaces/${namespace}/deployments`, onDeployment),
    await watchObjects(cluster, `/apis/batch/v1/namespaces/${namespace}/jobs`, onJob),
  ];
  const statusOf = (name: string) => policies.get(name) ?? {};
  return {
    statusOf,
    imageOf: (name: string) => running.get(name),
    checksOf: (name: string, tag: string) => checks.get(`${name} ${tag}`) ?? new Map<string, SeenState[]>(),
    changesOf: (name: string) => images.get(name) ?? [],
    /** The uids of the Jobs of one question. */
    jobsOf: (name: string, tag: string, id: string) => [...(jobs.get(`${name} ${tag} ${id}`) ?? [])],
    waitForStatus: (name: string, what: string, isReached: (status: PolicyStatus) => boolean) =>
      waitFor(`${name}: ${what}`, () => isReached(statusOf(name))),
    errors: () => watches.map(({ error }) => error).filter((error) => error !== undefined),
    stop: () => watches.forEach((watch) => watch.stop()),
  };
}
