/** Reads BaseImagePolicies of the API server into the model. */
import type { z } from 'zod';
import { baseKinds, type BaseAction, type BaseImagePolicy, type BasePolicySpec, type CiSystem } from '../../core/model/base-policy.ts';
import { readBaseStatus } from '../../core/model/base-status.ts';
import { defined } from '../../core/model/defined.ts';
import { PermanentError } from '../../core/model/errors.ts';
import type { FieldContext } from '../../core/model/field-rules.ts';
import type { PolicySpec } from '../../core/model/image-policy.ts';
import { readEditor } from '../../core/model/named-approvals.ts';
import { readActions, readRequest } from '../../core/model/policy-actions.ts';
import { normalisePattern } from '../../core/model/repository-pattern.ts';
import { builtInSettings } from '../../core/model/policy-defaults.ts';
import { parseDuration } from '../../core/model/text.ts';
import {
  originsOf,
  type ReadContext,
  readApprovals,
  readRepository,
  readSettings,
  readStrategy,
  readWaves,
} from '../../service/resources/read-spec.ts';
import { readVerification } from '../../service/resources/read-verify.ts';
import { parseSpec, readEnvelope, specOrProblem } from '../../service/resources/read-envelope.ts';
import { inField } from '../../service/resources/in-field.ts';
import { baseSpecSchema } from './schema.ts';

const defaultRebuildMs = 7_200_000;

/** The own namespace, and every other one: the API server gives each Namespace this label. https://kubernetes.io/docs/reference/labels-annotations-taints/ */
const everywhere: NonNullable<Spec['workloads']> = [
  {},
  { namespaceSelector: { matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'Exists' }] } },
];

type Spec = z.output<typeof baseSpecSchema>;
type Action = NonNullable<Spec['onNewBase']>[number];
type Trigger = NonNullable<Action['trigger']>;

/** The context that the meaning of a policy depends on. */
export type BaseReadContext = FieldContext & Pick<ReadContext, 'verifiesApprovers'>;

/** Reads an object, with the built-in values for missing settings. Errors in its spec become the policy's problem, so that other policies are not affected. Throws only if it has no metadata. */
export function readBasePolicy(raw: unknown, context: BaseReadContext): BaseImagePolicy {
  const { known, annotations, spec, status } = readEnvelope(raw);
  const actions = readActions(annotations);
  return {
    ...known,
    spec: specOrProblem(spec, () => readBaseSpec(spec, known.namespace, context)),
    status: readBaseStatus(status),
    ...(Object.keys(actions).length > 0 && { actions }),
    ...defined({ requested: readRequest(annotations), editedBy: readEditor(annotations) }),
  };
}

/** Reads a spec. Throws a PermanentError that lists all its errors. */
function readBaseSpec(raw: unknown, namespace: string, context: BaseReadContext): BasePolicySpec {
  const spec = parseSpec(
    baseSpecSchema,
    raw,
    { ...context, namespace },
    'so it does nothing for this policy: remove that, or wait for a version that does',
  );
  return {
    base: readSelection(spec, context),
    from: spec.from ?? [],
    basesBetween: spec.basesBetween,
    workloads: (spec.workloads ?? everywhere).map(({ kinds = baseKinds, ...selectors }) => ({ ...selectors, kinds })),
    onNewBase: withReport((spec.onNewBase ?? []).map((action) => withAliases(readAction(action), context))),
    waves: readWaves(spec.waves),
  };
}

/** The selection of the base, in the form of an ImagePolicy without targets. */
function readSelection(spec: Spec, { aliases, ...context }: BaseReadContext): PolicySpec {
  const { platforms = [], pullSecrets, windows, mode, approvals, suspend } = spec;
  const written = readSettings(spec, windows, 'spec.');
  return {
    repository: inField('spec.image', () => readRepository(spec.image, aliases)),
    strategy: readStrategy(spec),
    pin: 'Tag',
    allowDowngrade: false,
    ...(platforms.length > 0 && { platforms }),
    ...defined({ minAgeMs: written.minAge }),
    mode,
    ...(approvals !== undefined && { approvals: readApprovals(approvals, 'approvals', context) }),
    windows: written.windows ?? builtInSettings.windows,
    targets: [],
    ...(spec.verify !== undefined && { verification: readVerification(spec.verify) }),
    ...(pullSecrets !== undefined && { pullSecrets: pullSecrets.map(({ name }) => name) }),
    pollIntervalMs: written.poll ?? builtInSettings.poll,
    suspended: suspend,
    origins: originsOf(written),
  };
}

/** The action, with patterns that use the canonical names of repositories. */
function withAliases(action: BaseAction, { aliases }: FieldContext): BaseAction {
  return action.kind === 'report' ? action : { ...action, images: action.images.map((pattern) => normalisePattern(pattern, aliases)) };
}

/** The actions, of which the last is for all other images, once. */
function withReport(actions: readonly BaseAction[]): readonly BaseAction[] {
  return actions.at(-1)?.kind === 'report' ? actions : [...actions, { kind: 'report' }];
}

function readAction({ rebase, trigger, restart }: Action): BaseAction {
  if (rebase !== undefined) {
    const { images = ['*'], tag = '$tag-base.$date', allow = [], pushSecret, sign } = rebase;
    const signingKey = sign && { secret: sign.keyRef.name, key: sign.keyRef.key };
    return { kind: 'rebase', images, tag, allow, ...(pushSecret && { pushSecret: pushSecret.name }), ...defined({ signingKey }) };
  }
  if (trigger !== undefined) {
    const { images, sources, rebuildWithin } = trigger;
    const rebuildWithinMs = (rebuildWithin === undefined ? undefined : parseDuration(rebuildWithin)) ?? defaultRebuildMs;
    return { kind: 'trigger', images, ...defined({ sources }), rebuildWithinMs, ci: readCiSystem(trigger) };
  }
  return restart === undefined ? { kind: 'report' } : { kind: 'restart', images: restart.images };
}

function readCiSystem({ github, gitlab, gitea, tekton, jenkins, webhook }: Trigger): CiSystem {
  if (github !== undefined) {
    const { repository: project, event, workflow, ref, url, secretRef: secret } = github;
    const rest = { project, ...defined({ url, ref }), secret };
    if (event !== undefined) return { system: 'githubDispatch', name: event, ...rest };
    return { system: 'githubWorkflow', ...defined({ name: workflow }), ...rest };
  }
  if (gitlab !== undefined) {
    const { project, ref, url, secretRef: secret } = gitlab;
    return { system: 'gitlab', project, ref, ...defined({ url }), secret };
  }
  if (gitea !== undefined) {
    const { repository: project, workflow: name, ref, url, secretRef: secret } = gitea;
    return { system: 'gitea', project, name, ref, url, secret };
  }
  if (tekton !== undefined) return { system: 'tekton', url: tekton.url, ...defined({ secret: tekton.secretRef }) };
  if (jenkins !== undefined) return { system: 'jenkins', url: jenkins.url, name: jenkins.job, secret: jenkins.secretRef };
  if (webhook !== undefined) return { system: 'webhook', url: webhook.url, secret: webhook.secretRef };
  throw new PermanentError('InvalidPolicy', 'spec.onNewBase: a trigger needs a CI system');
}
