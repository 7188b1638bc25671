import { readConfig, registryAliases } from '../../service/config/settings.ts';
import { processSource } from '../../service/config/environment.ts';
import { targets } from '../../service/kube/targets.ts';
import { parseImageReference, type RegistryAliases, type Repository } from '../../core/model/image-reference.ts';
import { describeError } from '../../core/model/errors.ts';
import { strategies } from '../../core/select/strategies/index.ts';
import { formatBases, summarize } from './bases/report.ts';
import { defineCommand, listOf, UsageError } from '../../service/command-line/command.ts';
import { print } from '../../service/command-line/output.ts';
import { registryOptions } from '../../service/command-line/user-registry.ts';
import { currentNamespace, policyOptions, withCluster } from '../../service/command-line/policy-client.ts';
import { summaries } from './summaries.ts';

const kindNames = targets.map(({ kind }) => kind);

const options = {
  range: { value: 'RANGE', about: 'the selected version is the highest in this range: 21.x (default: the highest stable version)' },
  latest: { value: 'TAG', about: 'the selected version is that of a mutable tag' },
  kind: { value: 'KIND', multiple: true, about: `only workloads of this kind, as often as needed: ${listOf(kindNames)} (default: all)` },
  selector: { short: 'l', value: 'SELECTOR', about: 'only workloads with these labels, in the syntax of kubectl' },
  behind: { about: 'show only the images that are behind' },
  'fail-on-behind': { about: 'exit with 1 if an image is behind' },
  ...policyOptions,
  namespace: { ...policyOptions.namespace, about: "the namespace of the workloads (default: that of the kubeconfig's context)" },
  'all-namespaces': { short: 'A', about: 'the workloads of all namespaces' },
  ...registryOptions,
  output: {
    short: 'o',
    value: 'FORMAT',
    choices: ['text', 'wide', 'json', 'yaml', 'name'],
    about: 'text, wide (with all workloads, digests and reasons), json, yaml or name (default text)',
  },
} as const;

/** `image-watcher bases`. */
export const bases = defineCommand({
  name: 'bases',
  summary: summaries.bases,
  about: `Shows the images that the workloads run and that are built on a base image: Current, if they are built on its selected version, Behind, if on another one, and Unknown, if that cannot be recognized; images that are not built on it are only counted. An image is recognized by its layers and by what its builder wrote into it. Asks the API server with your permissions, and registries with the credentials of --docker-config; reads manifests and configurations, no layers. Changes nothing.

Exit codes: 0 success, 1 failure, or an image is behind with --fail-on-behind, 2 wrong usage.`,
  arguments: [
    {
      name: 'REPOSITORY',
      about: 'the base image without a tag: harbor.example.com/library/base-java',
      missing: 'name the repository of the base image, such as harbor.example.com/library/base-java',
    },
  ],
  options,
  examples: [
    ['bases harbor.example.com/library/base-java --range 21.x -A', 'who in the cluster is built on it, and who is behind'],
    ['bases docker.io/library/debian --latest bookworm-slim --behind -o name', 'the images that are behind a mutable tag'],
  ],
  run(
    { output, config: file, 'all-namespaces': all = false, 'docker-config': dockerConfig, kind: kinds = kindNames, ...values },
    [text = ''],
    terminal,
  ) {
    if (all && values.namespace !== undefined) throw new UsageError('--all-namespaces goes without --namespace');
    if (values.range !== undefined && values.latest !== undefined) throw new UsageError('--range goes without --latest');
    const config = readConfig(processSource(file));
    const base = readRepository(text, registryAliases(config));
    const strategy = readRange(values.range);
    const wanted = targets.filter(({ kind }) => kinds.some((name) => name.toLowerCase() === kind.toLowerCase()));
    const unknown = kinds.find((name) => !kindNames.some((kind) => kind.toLowerCase() === name.toLowerCase()));
    if (unknown !== undefined) throw new UsageError(`--kind is ${listOf(kindNames)}, not "${unknown}"`);
    return withCluster(values, terminal, async (client) => {
      // Loaded only now: help should not wait for the clients.
      const { examine } = await import('./bases/examine.ts');
      const where = { kinds: wanted, namespace: all ? undefined : currentNamespace(client, values.namespace), selector: values.selector };
      const { selected, recognized } = await examine(
        { base, strategy, latest: values.latest, where },
        { client, config, dockerConfig, terminal },
      );
      const found = summarize(base, selected, recognized);
      const report = values.behind ? { ...found, images: found.images.filter(({ state }) => state === 'Behind') } : found;
      if (output === 'name') terminal.out(report.images.map(({ image }) => `${image}\n`).join(''));
      else
        print(terminal, output === 'wide' ? 'text' : output, report, () =>
          formatBases(report, { isWide: output === 'wide', now: new Date() }, terminal),
        );
      return values['fail-on-behind'] && found.summary.behind > 0 ? 1 : 0;
    });
  },
});

function readRepository(text: string, aliases: RegistryAliases): Repository {
  const { repository, tag, digest } = asUsage('REPOSITORY', () => parseImageReference(text, aliases));
  if (tag !== undefined) throw new UsageError(`REPOSITORY has no tag: write --latest ${tag}, or --range for versions`);
  if (digest !== undefined) throw new UsageError('REPOSITORY has no digest: write --latest or --range to select a version');
  return repository;
}

function readRange(range: string | undefined) {
  return asUsage('--range', () => strategies.semver(range === undefined ? {} : { range }));
}

function asUsage<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new UsageError(`${what}: ${describeError(error)}`, { cause: error });
  }
}
