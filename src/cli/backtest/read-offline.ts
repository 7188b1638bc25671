/** Policies of files, without a cluster. */
import { isUsable, type ImagePolicy, type PolicySpec } from '../../core/model/image-policy.ts';
import { matchingDefaults, withDefaults } from '../../core/model/policy-defaults.ts';
import { fieldsOf } from '../../core/model/untyped.ts';
import { UsageError } from '../../service/command-line/command.ts';
import { metadataOf } from '../../service/command-line/policy-client.ts';
import { namespaceRulesOf } from '../../service/config/policy-defaults.ts';
import type { Config } from '../../service/config/settings.ts';
import { readPolicy } from '../../service/resources/read-policy.ts';
import { asStored } from '../../service/resources/resource-group.ts';
import { readContextOf } from '../read-context.ts';
import { readGroup } from '../resource-group.ts';

export type UsablePolicy = ImagePolicy & { readonly spec: PolicySpec };

/**
 * The policy of a document, with the defaults of the configuration for the name of its namespace: labels of namespaces are not known. Throws UsageError if its
 * spec cannot be used.
 */
export async function readOffline(document: unknown, config: Config, namespace = 'default'): Promise<UsablePolicy> {
  const { olderVersions } = await readGroup();
  const { metadata: written, ...rest } = asStored(document, olderVersions);
  const { name, namespace: own } = metadataOf(document);
  const where = own === '' ? namespace : own;
  const metadata = { ...fieldsOf(written), namespace: where, uid: `${where}/${name}`, resourceVersion: '0', generation: 1 };
  return withUsualSettings(readPolicy({ ...rest, metadata }, await readContextOf(config)), config);
}

/** The policy with the defaults of the configuration. Throws UsageError if its spec cannot be used. */
export function withUsualSettings(policy: ImagePolicy, config: Config): UsablePolicy {
  const { namespace, name, spec } = policy;
  if (!isUsable(spec)) throw new UsageError(`${namespace}/${name}: ${spec.problem.message}`);
  const rules = namespaceRulesOf(config);
  return { ...policy, spec: withDefaults(spec, matchingDefaults(rules, namespace, undefined), rules.cluster) };
}
