import { isDeepStrictEqual } from 'node:util';
import { type Check, failed, type Finding, ok, skipped, warning } from '../finding.ts';

/** The installed definition of a kind, and the definition of this program. */
export interface ComparedDefinition {
  /** The installed definition; undefined if there is none. */
  readonly installed: InstalledDefinition | undefined;
  readonly expected: readonly DefinitionVersion[];
}

/** What is known of the definition of a kind that a wing adds. */
export interface AddedKindFacts {
  readonly kind: string;
  /** What is missing in a cluster that does not have the definition, as the end of a sentence. */
  readonly withoutIt: string;
  /** The kind that needs this one for its records. */
  readonly recordsOf?: string;
  readonly definition: ComparedDefinition | { readonly why: string };
}

/** The known facts about the definition of ImagePolicy, and about those of the kinds that wings add. */
export type DefinitionFacts =
  | { readonly why: string }
  | (ComparedDefinition & {
      /** Every kind that a wing of this program adds. */
      readonly added: readonly AddedKindFacts[];
      /** The versions that are served, and why their policies cannot be read; undefined if they can. */
      readonly reads: readonly { readonly version: string; readonly why: string | undefined }[];
    });

/** The fields of a version that are compared. */
export interface DefinitionVersion {
  readonly name: string;
  readonly schema?: unknown;
  readonly subresources?: unknown;
  readonly additionalPrinterColumns?: unknown;
}

interface InstalledDefinition {
  readonly spec: {
    readonly versions: readonly (DefinitionVersion & { readonly served?: boolean; readonly storage?: boolean })[];
    readonly conversion?: { readonly strategy: string };
  };
  readonly status?: { readonly storedVersions?: readonly string[] };
}

const apply = 'run image-watcher crd apply with the version of the service';
/** The advice to start the conversion webhook, which `crd apply` needs. */
const startAndApply =
  'start the service with the role convert, then run image-watcher crd apply; or image-watcher crd apply --v1-only if nothing uses v1alpha1';
const upgrade =
  'stop the older service, start the roles receive and convert of the new one, and only then run image-watcher crd apply: each step is in docs/upgrading.md';

/** Checks that the cluster's definitions are those of this program. */
export const definition: Check<DefinitionFacts> = {
  id: 'definition',
  lines: ['installed', 'current', 'conversion', 'stored-versions', 'readable', 'added-kinds'],
  evaluate(facts) {
    if ('why' in facts) return [skipped('definition/installed', `the CustomResourceDefinition could not be read: ${facts.why}`)];
    const { installed, expected, reads, added } = facts;
    if (installed === undefined) return [failed('definition/installed', 'the CustomResourceDefinition is not installed', startAndApply)];
    if (isOlder(installed, expected)) return older(installed);
    return [
      ok('definition/installed', `the CustomResourceDefinition has ${installed.spec.versions.map(({ name }) => name).join(', ')}`),
      current(installed, expected),
      conversion(installed),
      storedVersions(installed),
      ...reads.map(({ version, why }) =>
        why === undefined
          ? ok('definition/readable', `policies can be read as ${version}`)
          : failed(
              'definition/readable',
              `policies cannot be read as ${version}: ${why}`,
              'check that the role convert runs, and the lines certificates/conversion-trust and certificates/conversion-end',
            ),
      ),
      ...added.map((one) => addedKind(one, added)),
    ];
  },
};

/** Whether the definition is that of the operator before v1, which has no version that this program works with. */
function isOlder({ spec }: InstalledDefinition, [own]: readonly DefinitionVersion[]): boolean {
  return !spec.versions.some(({ name }) => name === own?.name);
}

/** The findings for an older definition. Other lines are left out: they would only follow from it, and advise steps that fail before the upgrade. */
function older({ spec }: InstalledDefinition): Finding[] {
  const versions = spec.versions.map(({ name }) => name).join(', ');
  return [
    ok('definition/installed', `the CustomResourceDefinition has ${versions}`),
    failed('definition/current', `the CustomResourceDefinition is that of an older image-watcher, with ${versions} alone`, upgrade),
  ];
}

function current(installed: InstalledDefinition, expected: readonly DefinitionVersion[]): Finding {
  const line = 'definition/current';
  const different = differencesOf(installed, expected);
  if (different === '') return ok(line, 'the CustomResourceDefinition is the one of this program');
  return failed(line, `the CustomResourceDefinition is another than that of this program: ${different}`, apply);
}

function addedKind({ kind, withoutIt, recordsOf, definition }: AddedKindFacts, all: readonly AddedKindFacts[]): Finding {
  const line = 'definition/added-kinds';
  const name = `the CustomResourceDefinition of ${kind}`;
  if ('why' in definition) return skipped(line, `${name} could not be read: ${definition.why}`);
  const { installed, expected } = definition;
  if (installed === undefined) {
    const isNeeded = all.some((one) => one.kind === recordsOf && 'installed' in one.definition && one.definition.installed !== undefined);
    return (isNeeded ? failed : warning)(line, `${name} is not installed: ${withoutIt}`, apply);
  }
  const different = differencesOf(installed, expected);
  if (different === '') return ok(line, `${name} is the one of this program`);
  return failed(line, `${name} is another than that of this program: ${different}`, apply);
}

/** Describes the differences from the expected definition; empty if there are none. */
function differencesOf({ spec }: InstalledDefinition, expected: readonly DefinitionVersion[]): string {
  const parts = ['schema', 'subresources', 'additionalPrinterColumns'] as const;
  const different = spec.versions.flatMap((version) => {
    const own = expected.find(({ name }) => name === version.name);
    if (own === undefined) return [`${version.name} is not known here`];
    const unequal = parts.filter((part) => !isDeepStrictEqual(version[part], own[part]));
    return unequal.length === 0 ? [] : [`${unequal.join(' and ')} of ${version.name}`];
  });
  return different.join('; ');
}

function conversion({ spec }: InstalledDefinition): Finding {
  const line = 'definition/conversion';
  const served = spec.versions.filter((version) => version.served !== false);
  const strategy = spec.conversion?.strategy ?? 'None';
  if (served.length < 2 || strategy === 'Webhook') return ok(line, `conversion: ${strategy}`);
  return failed(
    line,
    `${served.map(({ name }) => name).join(' and ')} are served without a conversion webhook: policies lose their fields when they are read as the other version`,
    'run image-watcher crd apply with --conversion-service, or with --v1-only if nothing uses v1alpha1',
  );
}

function storedVersions({ spec, status }: InstalledDefinition): Finding {
  const line = 'definition/stored-versions';
  const storage = spec.versions.find((version) => version.storage)?.name ?? 'none';
  const older = (status?.storedVersions ?? []).filter((version) => version !== storage);
  if (older.length === 0) return ok(line, `all policies are stored as ${storage}`);
  return warning(line, `policies may still be stored as ${older.join(', ')}`, 'run image-watcher crd migrate when the upgrade is complete');
}
