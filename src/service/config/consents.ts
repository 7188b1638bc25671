/** The setting `consents`: what the policies of a namespace may do beyond it. */
import { z } from 'zod';
import { describeError } from '../../core/model/errors.ts';
import { checkRepositoryPattern } from '../../core/model/repository-pattern.ts';
import { always, name, reportTo } from './scalars.ts';

const repository = z
  .string()
  .min(1)
  .max(255)
  .regex(
    /^[a-z0-9.-]+(?::[0-9]{1,5})?\/[a-z0-9._/*-]+$/,
    'a registry, and a path in which "*" stands for any characters: "harbor.example.com/shop/*"',
  )
  .superRefine((pattern, context) => {
    try {
      checkRepositoryPattern(pattern);
    } catch (error) {
      context.addIssue({ code: 'custom', message: describeError(error) });
    }
  })
  .describe('A repository, in whose path `*` stands for any characters, also for slashes: "harbor.example.com/shop/*".');

/** Schema of the setting `consents`. */
export const consents = z
  .array(
    z
      .strictObject({
        policiesFrom: name.describe('The namespace of the policies.'),
        namespaces: z
          .array(
            z
              .string()
              .regex(/^[a-z0-9*-]{1,63}$/)
              .describe('A namespace, or a pattern in which `*` stands for any characters: "team-*".'),
          )
          .max(64)
          .default([])
          .describe('The namespaces whose workloads they may change.'),
        push: z
          .array(repository)
          .max(64)
          .default([])
          .describe(
            "The repositories to which BaseImagePolicies may push rebased images without a pushSecret, with image-watcher's own `credentials`. Whoever may write BaseImagePolicies in policiesFrom can put the layers of any base into them.",
          ),
      })
      .describe('What is granted to the policies of one namespace.')
      .superRefine(grantsSomething, always),
  )
  .max(64)
  .default([])
  .describe(
    'Consents of a whole platform, with crossNamespace: consent: the owners of these namespaces need not annotate them. Owners may still refuse, with the annotation "nobody" on the Namespace or any annotation on a workload. Whoever may write policies in policiesFrom may change the workloads.',
  );

/** Checks that a consent is not empty. */
function grantsSomething(consent: unknown, context: z.RefinementCtx): void {
  if (typeof consent !== 'object' || consent === null || Array.isArray(consent)) return;
  const isEmpty = (key: string) => {
    const value = (consent as Readonly<Record<string, unknown>>)[key];
    return value === undefined || (Array.isArray(value) && value.length === 0);
  };
  if (isEmpty('namespaces') && isEmpty('push')) reportTo(context)('namespaces', 'missing: name namespaces, or repositories under push');
}
