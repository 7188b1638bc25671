import { readConfig, type Config } from '../service/config/settings.ts';
import { processSource } from '../service/config/environment.ts';
import type { KubeClient } from '../service/kube/client.ts';
import { readSecretContent } from '../service/kube/secrets.ts';
import type { ImageReference } from '../core/model/image-reference.ts';
import type { ImageSource, SecretRef } from '../core/model/image-source.ts';
import { credentialSources } from '../service/registry/credentials/index.ts';
import { defineCommand, type Terminal, UsageError } from '../service/command-line/command.ts';
import { formatChange } from './diff/changes.ts';
import type { Mode, Proposals, TagList } from './init/propose-policies.ts';
import { countOf, print } from '../service/command-line/output.ts';
import { clusterOptions, currentNamespace, withCluster } from '../service/command-line/policy-client.ts';
import { startProgress, type Progress } from '../service/command-line/progress.ts';
import { openRegistry, registryOptions } from '../service/command-line/user-registry.ts';
import { summaries } from './summaries.ts';
import { namespaceOption } from '../service/command-line/usual-options.ts';

/** The exit code of a failed diff. As with diff, 1 means differences. */
const diffFailed = 2;

const options = {
  namespace: namespaceOption("the namespace of the workloads (default: that of the kubeconfig's context)"),
  'all-namespaces': { short: 'A', about: 'the workloads of all namespaces, but not those of Kubernetes' },
  mode: {
    value: 'MODE',
    choices: ['Approval', 'DryRun', 'Automatic'],
    about: 'when the policies change workloads: after an approval, never, or at once (default Approval)',
  },
  diff: { about: 'show what would change at once if the policies were applied, and what waits for what, instead of the policies' },
  ...clusterOptions,
  ...registryOptions,
  output: {
    short: 'o',
    value: 'FORMAT',
    choices: ['yaml', 'json'],
    about:
      'yaml, for kubectl apply, or json: {"policies": [{"policy", "runs", "selects", "notes"}], "leftOut": [{"image", "workloads", "why"}]}; with --diff a list of changes',
  },
} as const;

export const init = defineCommand({
  name: 'init',
  summary: summaries.init,
  about: `Reads the workloads of a namespace, or of all, and the tags of their images, and writes an ImagePolicy for each image, and for each OCI chart that Argo CD, Flux or k3s installs in an exact version. Comments say why it selects what it selects, and what was left out: what is pinned by digest only, unreadable, or updated by another tool or policy. Changes nothing in the cluster.

Updates of the policies wait for an approval, unless you choose another --mode. On a terminal, asks which policies to write into which file; otherwise, and with --output, prints them.

Asks registries with the credentials of --docker-config, then with those Secrets of the workloads that you may read.

Exit codes: 0 success (with --diff: nothing would change at once), 1 failure (with --diff: something would change at once), 2 wrong usage (with --diff also failure).`,
  options,
  examples: [
    ['init -n shop > image-policies.yaml', 'write policies for all images of a namespace'],
    ['init -A --diff', 'what would change at once, and what would wait'],
  ],
  run({ output, namespace, 'all-namespaces': all = false, mode = 'Approval', diff = false, ...values }, _args, terminal) {
    if (all && namespace !== undefined) throw new UsageError('--all-namespaces goes without --namespace');
    const config = readConfig(processSource(values.config));
    const act = async (client: KubeClient) => {
      const where = all ? undefined : currentNamespace(client, namespace);
      const readSecret = (secret: SecretRef) => readSecretContent(client, secret);
      const { registry } = openRegistry(config, values['docker-config'], [credentialSources['pull-secrets']({ readSecret })]);
      const progress = startProgress(terminal, 'reading workloads …');
      const means = { client, registry, config, progress, terminal };
      try {
        const found = await propose(where, mode, means);
        if (!diff) progress.stop();
        return await (diff ? showDiff(found, output, means) : show(found, { output, mode, where }, terminal));
      } finally {
        progress.stop();
        await registry.close();
      }
    };
    return withCluster(values, terminal, act, diff ? diffFailed : 1);
  },
});

interface Means {
  readonly client: KubeClient;
  readonly registry: ReturnType<typeof openRegistry>['registry'];
  readonly config: Config;
  readonly progress: Progress;
  readonly terminal: Terminal;
}

interface Found extends Proposals {
  readonly sources: ReadonlyMap<string, ImageSource>;
  readonly lists: ReadonlyMap<string, TagList>;
}

async function propose(namespace: string | undefined, mode: Mode, means: Means): Promise<Found> {
  const { client, registry, config, progress, terminal } = means;
  const { signal = new AbortController().signal } = terminal;
  // Imported only here, so that the help does not wait for these modules.
  const [{ readRunning }, { readTags }, { readArtifacts }, { proposePolicies, repositoryKey }, charts, { mergeLeftOut }] =
    await Promise.all([
      import('./init/read-running.ts'),
      import('./init/read-tags.ts'),
      import('./init/read-artifacts.ts'),
      import('./init/propose-policies.ts'),
      import('./init/propose-charts.ts'),
      import('./init/report.ts'),
    ]);
  const running = await readRunning(client, { namespace, config, signal });
  for (const doubt of running.doubts) terminal.err(`${doubt}\n`);
  const onRead = (done: number, total: number) =>
    progress.update(`reading tags: ${done} of ${countOf(total, 'repository', 'repositories')}`);
  const lists = await readTags(running.sources, { registry, signal, onRead });
  const tagsOf = (reference: ImageReference) => lists.get(repositoryKey(reference)) ?? { problem: 'its tags were not read' };
  const installed = await readArtifacts(charts.installedTags(running.charts, running.sources), { registry, signal });
  const ofImages = proposePolicies(running.images, tagsOf, { mode, taken: running.taken });
  const taken = new Set([
    ...running.taken,
    ...ofImages.policies.map(({ policy: { metadata } }) => `${metadata.namespace}/${metadata.name}`),
  ]);
  const ofCharts = charts.proposeCharts(running.charts, { tagsOf, installed }, { mode, taken });
  return {
    policies: [...ofImages.policies, ...ofCharts.policies],
    leftOut: mergeLeftOut([...running.leftOut, ...ofImages.leftOut, ...ofCharts.leftOut]),
    lists,
    sources: running.sources,
  };
}

interface Showing {
  readonly output: 'yaml' | 'json' | undefined;
  readonly mode: Mode;
  readonly where: string | undefined;
}

async function show({ policies, leftOut }: Found, { output, mode, where }: Showing, terminal: Terminal): Promise<number> {
  const { formatProposals, summarize } = await import('./init/report.ts');
  const proposals = { policies, leftOut };
  if (policies.length + leftOut.length === 0) {
    terminal.err(
      where === undefined
        ? 'there are no workloads and no charts\n'
        : `there are no workloads and no charts in the namespace ${where}: choose another one with --namespace, or all with -A\n`,
    );
    return 1;
  }
  const { ask } = terminal;
  if (output === undefined && ask !== undefined) {
    const { offerProposals } = await import('./init/ask.ts');
    return offerProposals(proposals, mode, { ...terminal, ask });
  }
  if (output === 'json') print(terminal, 'json', proposals, () => '');
  else terminal.out(formatProposals(proposals, mode));
  terminal.err(`${summarize(proposals)}\n`);
  return 0;
}

async function showDiff({ policies, lists, sources }: Found, output: Showing['output'], means: Means): Promise<number> {
  const { previewChanges } = await import('./init/preview.ts');
  const { progress, terminal } = means;
  const { signal = new AbortController().signal } = terminal;
  const onDone = (done: number) => progress.update(`comparing: ${done} of ${countOf(policies.length, 'policy', 'policies')}`);
  const changes = await previewChanges(policies, { ...means, signal, tagsOf: (repository) => lists.get(repository), sources, onDone });
  progress.stop();
  print(terminal, output, changes, () => changes.map((change) => formatChange(change, terminal)).join(''));
  const atOnce = changes.filter(({ from }) => from !== undefined).length;
  const waiting = changes.filter(({ reason }) => reason === 'ApprovalRequired').length;
  const what = atOnce === 0 ? 'nothing would change at once' : `${countOf(atOnce, 'container')} would change at once`;
  terminal.err(`${what}${waiting === 0 ? '' : `; ${countOf(waiting, 'update')} would wait for an approval`}\n`);
  return atOnce === 0 ? 0 : 1;
}
