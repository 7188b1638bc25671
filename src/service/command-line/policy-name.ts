/** The name of a policy, as users write it. */
import { baseKind, basePlural, baseShortName, kind, plural, shortName } from '../resources/group.ts';
import { UsageError } from './command.ts';

/** A policy as the user named it. */
export interface PolicyName {
  /** The namespace; undefined: the one of the kubeconfig's context. */
  readonly namespace: string | undefined;
  readonly name: string;
  /** Whether the policy is a BaseImagePolicy. */
  readonly isBase?: true;
}

const resourceWords = new Set([plural, kind.toLowerCase(), shortName]);
const baseWords = new Set([basePlural, baseKind.toLowerCase(), baseShortName]);

/** Whether a word before the slash is the resource: `ipol`, `imagepolicies.operator.technomad.dev`. */
export function isResourceWord(word: string): boolean {
  return resourceWords.has(word.toLowerCase().split('.')[0] ?? '');
}

/** Whether a word is the resource of BaseImagePolicies: `bipol`, `baseimagepolicies.operator.technomad.dev`. */
export function isBaseWord(word: string): boolean {
  return baseWords.has(word.toLowerCase().split('.')[0] ?? '');
}

/** Reads a policy's name as NAME, ipol/NAME, imagepolicy/NAME or NAMESPACE/NAME; throws UsageError. */
export function readPolicyName(text: string, namespace: string | undefined): PolicyName {
  const named = readAnyPolicyName(text, namespace);
  if (named.isBase) throw new UsageError(`"${text}" is a ${baseKind}: this command is for ImagePolicies`);
  return named;
}

/** Reads a policy's name like `readPolicyName`, and also bipol/NAME and baseimagepolicy/NAME; throws UsageError. */
export function readAnyPolicyName(text: string, namespace: string | undefined): PolicyName {
  const [, prefix, name = ''] = /^(?:([^/]+)\/)?([^/]+)$/.exec(text) ?? [];
  if (name === '') throw new UsageError(`a policy is NAME, ${shortName}/NAME or NAMESPACE/NAME, not "${text}"`);
  if (prefix === undefined || isResourceWord(prefix)) return { namespace, name };
  if (isBaseWord(prefix)) return { namespace, name, isBase: true };
  if (namespace !== undefined && namespace !== prefix)
    throw new UsageError(`"${text}" is in the namespace ${prefix}, and --namespace is ${namespace}: name one of them`);
  return { namespace: prefix, name };
}
