/** Reads the parts of a spec that cannot be used: its repository and its targets. They are only for showing; no image is selected for them. */
import { artifacts } from '../../core/model/artifact.ts';
import type { PolicyScope } from '../../core/model/image-policy.ts';
import { PermanentError } from '../../core/model/errors.ts';
import { isObject } from '../../core/model/untyped.ts';
import { readRepository, readTarget, type ReadContext, type SpecSource } from './read-spec.ts';
import { specSchema } from './v1.ts';
import { isTooLarge, specProblems } from './validation/spec-problems.ts';
import { withoutNulls } from './validation/walk-schema.ts';

/**
 * The repository and the valid targets; undefined without a repository. A target with a problem of its own is left out, because it may name a kind or a field
 * that the operator does not allow the policy to read.
 */
export function readScope(raw: unknown, { namespace }: SpecSource, context: ReadContext): PolicyScope | undefined {
  const spec = withoutNulls(raw);
  if (!isObject(spec) || typeof spec['image'] !== 'string') return undefined;
  const repository = unlessInvalid(() => readRepository(String(spec['image']), context.aliases));
  if (repository === undefined) return undefined;
  if (isTooLarge(spec)) return { repository, targets: [], strategy: {} };
  const artifact = artifacts.find((one) => one === spec['artifact']) ?? 'Image';
  const faulty = new Set(specProblems(specSchema, raw, { ...context, namespace }).map(({ keys: [, field, index] }) => `${field}/${index}`));
  const written: readonly unknown[] = Array.isArray(spec['targets']) ? spec['targets'] : [];
  const targets = written.flatMap((target, index) => {
    const parsed = specSchema.shape.targets.element.safeParse(target);
    if (faulty.has(`targets/${index}`) || !parsed.success) return [];
    return unlessInvalid(() => readTarget(parsed.data, index, { ...context, namespace, repository, artifact })) ?? [];
  });
  return { repository, targets, strategy: {} };
}

function unlessInvalid<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof PermanentError) return undefined;
    throw error;
  }
}
