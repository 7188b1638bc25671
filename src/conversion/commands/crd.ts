import { defined } from '../../core/model/defined.ts';
import { customResourceDefinition, customResourceDefinitionYaml, defaultEndpoint, type CrdShape } from '../definition.ts';
import { type AddedDefinition, definitionsOf } from '../../service/resources/definitions.ts';
import { kind as policyKind } from '../../service/resources/group.ts';
import type { ResourceGroup } from '../../service/resources/resource-group.ts';
import { defineCommand, defineGroup } from '../../service/command-line/command.ts';
import { applyCrd } from './crd-apply.ts';
import { migrateCrd } from './crd-migrate.ts';
import {
  applyOptions,
  type CrdValues,
  endpointOf,
  migrateOptions,
  namespacedName,
  readCaFile,
  refuseExclusive,
  shapeOptions,
} from './crd-options.ts';
import { outputOption } from '../../service/command-line/output.ts';
import { clusterOptions } from '../../service/command-line/policy-client.ts';
import { summaries } from './summaries.ts';

/** The kinds of the API group, including those of other wings. */
interface Kinds {
  readonly kinds: readonly string[];
  readonly allKinds: string;
  readonly added: readonly AddedDefinition[];
}

/** Creates the command `image-watcher crd print|apply|migrate`. */
export function createCrd(resources: ResourceGroup) {
  const added = definitionsOf(resources.kinds);
  const kinds = [policyKind, ...added.map(({ kind }) => kind)];
  const allKinds = new Intl.ListFormat('en').format(kinds);
  return defineGroup({
    name: 'crd',
    summary: summaries.crd,
    about: `The CustomResourceDefinitions of ${allKinds}.`,
    commands: [printCommand({ kinds, allKinds, added }), applyCommand({ kinds, allKinds, added }), migrateCommand],
  });
}

function printCommand({ kinds, allKinds, added }: Kinds) {
  return defineCommand({
    name: 'crd print',
    summary: 'print the CustomResourceDefinitions',
    about: `Writes the CustomResourceDefinitions of ${allKinds}: YAML, or a List in JSON with --output json. The options about conversion and storage shape that of ImagePolicy; the others have one version.`,
    options: {
      kind: { value: 'KIND', choices: kinds, about: 'the definition of this kind alone' },
      ...shapeOptions,
      ...outputOption,
    },
    examples: [['crd print --v1-only > definitions.yaml', 'for a cluster that never had v1alpha1']],
    run({ output, kind, ...values }, _args, terminal) {
      refuseExclusive(values);
      const shape = shapeOf(values);
      const definitions = [
        { of: policyKind, object: customResourceDefinition(shape), yaml: customResourceDefinitionYaml(shape) },
        ...added.map(({ kind: of, object, yaml }) => ({ of, object, yaml })),
      ].filter(({ of }) => kind === undefined || kind === of);
      if (output === 'json') {
        const items = definitions.map(({ object }) => object);
        terminal.out(`${JSON.stringify(kind === undefined ? { apiVersion: 'v1', kind: 'List', items } : items[0], undefined, 2)}\n`);
      } else terminal.out(definitions.map(({ yaml }) => yaml).join('---\n'));
      return 0;
    },
  });
}

function applyCommand({ allKinds, added }: Kinds) {
  return defineCommand({
    name: 'crd apply',
    summary: 'create or update them, and wait until they are served',
    about: `Creates or updates the CustomResourceDefinitions of ${allKinds}, in this order, and waits until the API server serves them. ImagePolicy has v1 and v1alpha1, stored as v1, converted by the webhook of the role convert. A service of before v1 must have stopped: its status would be ignored, and it would act again and again.

  A new webhook or storage version comes only after the endpoint has answered and the API server has converted all policies through it; otherwise the definition is unchanged or restored, and the others are not written. Earlier decisions are kept unless an option changes them: the webhook, a retired v1alpha1, v1 alone. A version in status.storedVersions is never removed.`,
    options: { ...applyOptions, ...clusterOptions, ...outputOption },
    examples: [
      ['crd apply', 'with the webhook of the chart'],
      ['crd apply --v1-only', 'v1 alone, without a webhook'],
    ],
    run({ output, ...values }, _args, terminal) {
      refuseExclusive(values);
      return applyCrd(values, output, terminal, added);
    },
  });
}

const migrateCommand = defineCommand({
  name: 'crd migrate',
  summary: 'rewrite all policies in the storage version, and retire v1alpha1',
  about: `Makes the API server rewrite every policy in the storage version, then removes the others from status.storedVersions. It overwrites no changes, and can be interrupted and run again at any time. Policies that the API server refuses are listed at the end, and storedVersions is unchanged (exit code 1).

A policy needs v1alpha1 if it may be stored in it, if its manifest is applied in it (kubectl apply, server-side apply), or if somebody has written it through v1alpha1 lately. Helm keeps manifests of its own: upgrade such releases to v1 before --retire.`,
  options: { ...migrateOptions, ...clusterOptions, ...outputOption },
  examples: [
    ['crd migrate', 'after an upgrade'],
    ['crd migrate --retire v1alpha1', 'and stop serving v1alpha1'],
  ],
  run({ output, ...values }, _args, terminal) {
    return migrateCrd(values, output, terminal);
  },
});

function shapeOf(values: CrdValues): CrdShape {
  const { 'ca-file': file, 'inject-ca-from': injectCaFrom } = values;
  if (values['v1-only']) return { v1Only: true };
  if (injectCaFrom !== undefined) namespacedName('inject-ca-from', injectCaFrom);
  const { storage } = values;
  return {
    conversion: {
      endpoint: endpointOf(values) ?? defaultEndpoint,
      ...(file !== undefined && { ca: readCaFile(file) }),
      ...defined({ injectCaFrom }),
    },
    ...defined({ storage }),
  };
}
