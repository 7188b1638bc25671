/** What `image-watcher get` is asked for: the policies of one kind, all or by their names. */
import { UsageError } from '../../service/command-line/command.ts';
import { isBaseWord, isResourceWord, readAnyPolicyName, type PolicyName } from '../../service/command-line/policy-name.ts';
import { v1Columns } from '../../service/resources/columns.ts';
import { baseKind, baseResource, kind, policyResource } from '../../service/resources/group.ts';
import type { Column } from '../../service/resources/kinds.ts';
import { readGroup } from '../resource-group.ts';

/** A kind of policy: its resource, its name for many, and the columns in which `kubectl get` shows it. */
export interface ShownKind {
  readonly resource: typeof policyResource;
  readonly many: string;
  readonly columns: () => Promise<readonly Column[]>;
}

const imagePolicies: ShownKind = { resource: policyResource, many: 'policies', columns: () => Promise.resolve(v1Columns) };
const basePolicies: ShownKind = {
  resource: baseResource,
  many: 'BaseImagePolicies',
  async columns() {
    const { kinds } = await readGroup();
    const found = kinds.find(({ kind }) => kind === baseKind);
    if (found === undefined) throw new UsageError(`this program knows no ${baseKind}`);
    return found.columns;
  },
};

/** Reads the names, all of one kind: each with its resource, or after the word for it. */
export function readArguments(args: readonly string[], namespace: string | undefined): { names: readonly PolicyName[]; shown: ShownKind } {
  const [word = ''] = args;
  const isBase = isBaseWord(word);
  const named = (isBase || isResourceWord(word) ? args.slice(1) : args).map((text) => readAnyPolicyName(text, namespace));
  const names = isBase ? named.map((name): PolicyName => ({ ...name, isBase })) : named;
  const bases = names.filter((name) => name.isBase).length;
  if (bases > 0 && bases < names.length) throw new UsageError(`name ${kind} and ${baseKind} in separate commands`);
  return { names, shown: isBase || bases > 0 ? basePolicies : imagePolicies };
}
