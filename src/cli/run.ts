import { type Config, readConfig } from '../service/config/settings.ts';
import { processSource } from '../service/config/environment.ts';
import type { KubeClient } from '../service/kube/client.ts';
import { defineCommand, type Terminal, UsageError } from '../service/command-line/command.ts';
import { countOf, outputOption, print } from '../service/command-line/output.ts';
import { clusterOptions, currentNamespace, policyArgument, withCluster } from '../service/command-line/policy-client.ts';
import { policyKey } from '../core/model/image-policy.ts';
import { readPolicyName, type PolicyName } from '../service/command-line/policy-name.ts';
import type { GivenPolicy } from './once/policies.ts';
import { startProgress } from '../service/command-line/progress.ts';
import { registryOptions } from '../service/command-line/user-registry.ts';
import { summaries } from './summaries.ts';
import { readContextOf } from './read-context.ts';
import { fileOption, namespaceOption } from '../service/command-line/usual-options.ts';

/** The exit code of errors; 1 means that something is blocked. */
const failed = 2;
const maxParallel = 4;

const options = {
  once: { about: 'reconcile once, then end: has to be given, because the service is image-watcher serve' },
  file: {
    short: 'f',
    value: 'FILE',
    multiple: true,
    completes: 'file',
    about:
      'policies from a file, from the manifests of a folder, or (-) from the standard input, instead of those of the cluster; may be given several times',
  },
  namespace: namespaceOption("the namespace of the policies (default: that of the kubeconfig's context)"),
  'all-namespaces': { short: 'A', about: 'the policies of all namespaces of the cluster' },
  'dry-run': { about: 'write nothing: the API server checks each change, with your permissions and its admission, and does not store it' },
  wait: { about: 'wait for the rollouts of what was changed, and fail where one fails' },
  ...clusterOptions,
  'docker-config': registryOptions['docker-config'],
  config: fileOption(
    'the configuration of the service (aliases, allowedRegistries, consents, crossNamespace, customTargets, guards, policyDefaults, registries, verification, watch); its defaults unless given',
  ),
  ...outputOption,
} as const;

export const run = defineCommand({
  name: 'run',
  summary: summaries.run,
  about: `Reconciles policies once, as the service does, with the same guards and records. Needs neither Redis nor an installation, only a kubeconfig that may read and patch the targets; with --file, not even the CustomResourceDefinition.

Registries are asked with the credentials of --docker-config, then with those Secrets of policies and workloads that you may read.

The status of a policy of the cluster is written; that of a policy of a file is not, so a minAge passes only where the cluster has the policy as well. The next wave and the end of a window or a minAge are left to a later run, rollbacks and checks to the service. Followers come first, and go by what the service has recorded of what they follow. Notifications are not sent. Suspended policies, and those of a BaseImagePolicy, are skipped.

Exit codes: 0 done, or nothing to do, 1 something is blocked or a rollout has failed, 2 wrong usage, or a policy could not be read, evaluated or applied.`,
  arguments: [{ name: 'POLICY', about: policyArgument.about, multiple: true, completes: 'policy' }],
  options,
  examples: [
    ['run --once --dry-run -f policies/', 'what the policies of a folder would do now'],
    ['run --once --wait shop/web', 'reconcile one policy of the cluster, and wait for the rollout'],
  ],
  async run({ once = false, output, file: files = [], namespace, 'all-namespaces': all = false, ...values }, args, terminal) {
    if (!once) throw new UsageError('add --once: run reconciles once, and image-watcher serve is the service');
    if (all && (args.length > 0 || namespace !== undefined || files.length > 0))
      throw new UsageError(
        `--all-namespaces goes without ${args.length > 0 ? 'the names of policies' : files.length > 0 ? '--file' : '--namespace'}`,
      );
    if (values.wait && values['dry-run']) throw new UsageError('--wait goes without --dry-run: nothing is rolled out');
    const names = args.map((text) => readPolicyName(text, namespace));
    const config = readConfig(processSource(values.config));
    const documents = files.length === 0 ? undefined : await readFiles(files, config, terminal);
    if (documents === 'invalid') return failed;
    const wanted = { names, documents, all, namespace };
    const how = { config, isTrial: values['dry-run'] ?? false, waits: values.wait ?? false, dockerConfig: values['docker-config'] };
    return withCluster(values, terminal, (client) => runOnce(client, wanted, { ...how, output, terminal }), failed);
  },
});

/** Reads the policies in files. Problems are printed, and the result is then `invalid`. */
async function readFiles(paths: readonly string[], config: Config, terminal: Terminal): Promise<readonly unknown[] | 'invalid'> {
  const { readPolicyFiles } = await import('./once/read-files.ts');
  return readPolicyFiles(paths, config, terminal);
}

interface Wanted {
  readonly names: readonly PolicyName[];
  /** The documents of files; absent for the policies of the cluster. */
  readonly documents: readonly unknown[] | undefined;
  readonly all: boolean;
  readonly namespace: string | undefined;
}

interface How {
  readonly config: Config;
  readonly isTrial: boolean;
  readonly waits: boolean;
  readonly dockerConfig: string | undefined;
  readonly output: 'text' | 'json' | 'yaml' | undefined;
  readonly terminal: Terminal;
}

async function runOnce(client: KubeClient, wanted: Wanted, how: How): Promise<number> {
  const { config, isTrial, waits, dockerConfig, output, terminal } = how;
  const { signal = new AbortController().signal } = terminal;
  // Imported only here, so that the help does not wait for these modules.
  const [{ readOthers }, { openPolicies }, { openRun }, { followersFirst }, { reconcileOnce }, { watchRollouts }, report, scopes] =
    await Promise.all([
      import('./once/given-policies.ts'),
      import('./once/policies.ts'),
      import('./once/ports.ts'),
      import('./once/followers-first.ts'),
      import('./once/reconcile.ts'),
      import('./once/watch-rollout.ts'),
      import('./once/report.ts'),
      import('./explain/namespace-rules.ts'),
    ]);
  const progress = startProgress(terminal, 'reading policies …');
  try {
    const given = await readGiven(client, wanted);
    const read = await readContextOf(config);
    const context = { ...read, verifiesApprovers: isTrial || config.admissionPolicy };
    const others = await readOthers(client, currentNamespace(client, wanted.namespace), context);
    const scope = scopes.createNamespaceScope(client, config);
    const policies = await openPolicies(given, others.policies, { client, context, scope, isTrial });
    const keys = policies.given();
    if (keys.length === 0) {
      terminal.err(`${nothingGiven(client, wanted)}\n`);
      return failed;
    }
    const session = openRun(policies, { client, config, scope, isTrial, dockerConfig });
    try {
      let done = 0;
      const { inParallel } = await import('../core/async/in-parallel.ts');
      const reconcile = async (key: string) => {
        const result = await reconcileOnce(key, session, signal);
        progress.update(`reconciled: ${++done} of ${countOf(keys.length, 'policy', 'policies')}`);
        const policy = policies.known(key)?.policy;
        if (!waits || policy === undefined || result.changes.length === 0) return result;
        return { ...result, rollouts: await watchRollouts(policy, result.changes, session.ports.workloads, signal) };
      };
      const found = new Map<string, Awaited<ReturnType<typeof reconcile>>>();
      for (const group of followersFirst(keys.flatMap((key) => policies.known(key)?.policy ?? [])))
        for (const one of await inParallel(group.map(policyKey), maxParallel, reconcile)) {
          if (one.status === 'rejected') throw one.reason;
          found.set(one.value.policy, one.value);
        }
      const results = keys.flatMap((key) => found.get(key) ?? []);
      progress.stop();
      for (const doubt of [others.doubt, policies.doubt()]) if (doubt !== undefined) terminal.err(`${doubt}\n`);
      for (const why of session.details()) terminal.err(`registry failed, details: ${why}\n`);
      print(terminal, output, report.describeForPrograms(results, isTrial), () => report.formatResults(results, isTrial, terminal));
      return report.exitCodeOf(results);
    } finally {
      await session.close();
    }
  } finally {
    progress.stop();
  }
}

async function readGiven(client: KubeClient, { names, documents, all, namespace }: Wanted): Promise<GivenPolicy[]> {
  const { readFromFile, readStored } = await import('./once/given-policies.ts');
  const where = currentNamespace(client, namespace);
  if (documents === undefined) return readStored(client, names, all ? undefined : where);
  const given: GivenPolicy[] = [];
  for (const document of documents)
    given.push(await readFromFile(client, document, { namespace: where, isNamed: namespace !== undefined }));
  if (names.length === 0) return given;
  const { metadataOf } = await import('../service/command-line/policy-client.ts');
  return names.map((one) => {
    const isIt = (raw: unknown) => metadataOf(raw).name === one.name && metadataOf(raw).namespace === (one.namespace ?? where);
    const found = given.find(({ raw }) => isIt(raw));
    if (found === undefined) throw new UsageError(`the files have no ImagePolicy ${one.namespace ?? where}/${one.name}`);
    return found;
  });
}

function nothingGiven(client: KubeClient, { documents, all, namespace }: Wanted): string {
  if (documents !== undefined) return 'the files have no ImagePolicy';
  if (all) return 'the cluster has no policies';
  return `the namespace ${currentNamespace(client, namespace)} has no policies: choose another one with --namespace, all with -A, or files with --file`;
}
