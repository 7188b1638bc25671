/** `spec.onNewBase[]`: what happens to an image that is behind its base. */
import { z } from 'zod';
import { rebaseRules } from '../../core/model/rebase-rules.ts';
import { checkRepositoryPattern, coversPattern, normalisePattern } from '../../core/model/repository-pattern.ts';
import { fieldOf, has, withChecks, withRules, type Finding } from '../../service/resources/rules.ts';
import { distinct, duration, name, secretKeyOf } from '../../service/resources/v1-fields/scalars.ts';
import { findingOf } from '../../service/resources/validation/problem.ts';

const secretKey = secretKeyOf('the policy');

const imagePattern = withChecks(
  withRules(
    z
      .string()
      .min(1)
      .max(255)
      .regex(/^[a-z0-9._:/*-]+$/, 'a repository without a tag, in which "*" stands for any characters: "harbor.example.com/shop/*"')
      .describe('A repository, such as "harbor.example.com/shop/*", in which "*" stands for any characters, also for slashes.'),
    [
      {
        rule: "!self.matches(':[^/]*$')",
        message: 'write only repositories, without a tag: the action applies to every tag of them',
      },
    ],
  ),
  checkImagePattern,
);

const imagesOf = (what: string) => distinct(z.array(imagePattern).min(1).max(32).describe(what));
const images = imagesOf('The images that the action applies to, by their repositories.');

const httpUrl = (what: string) =>
  withChecks(
    z
      .string()
      .min(1)
      .max(1024)
      .regex(/^https?:\/\/[^\s@]+$/, 'a URL without a password, such as "https://gitlab.example.com"')
      .describe(what),
    checkUrl,
  );

const text = (max: number, pattern: RegExp, hint: string, what: string) => z.string().min(1).max(max).regex(pattern, hint).describe(what);

/** A repository of the CI system, or `$source`. */
const project = (what: string) =>
  withChecks(
    text(
      255,
      /^(?:\$source|[A-Za-z0-9._-]+(?:\/[A-Za-z0-9._-]+)*)$/,
      '"$source", or a path such as "shop/web"',
      `${what} "$source" takes it from the label or annotation org.opencontainers.image.source of the image.`,
    ),
    checkSegments,
  );
const ref = text(255, /^[^\s~^:?*[\\]+$/, 'the name of a branch or tag', 'The branch or tag to build.');
const word = (what: string) =>
  withChecks(text(128, /^[A-Za-z0-9._ /-]+$/, 'letters, digits, ".", "_", "-", "/" and spaces', what), checkSegments);
const token = secretKey('The Secret with the token.');

const github = withRules(
  z
    .object({
      repository: project('The repository, as owner/name.'),
      event: word('The event type of a repository_dispatch.').exactOptional(),
      workflow: word('The file name of a workflow with workflow_dispatch.').exactOptional(),
      ref: ref.exactOptional(),
      url: httpUrl('The API of GitHub Enterprise Server; by default https://api.github.com.').exactOptional(),
      secretRef: token,
    })
    .describe('Calls GitHub Actions.'),
  [
    {
      rule: 'has(self.event) != has(self.workflow)',
      message: 'write either event, for repository_dispatch, or workflow and ref, for workflow_dispatch',
    },
    {
      rule: 'has(self.workflow) == has(self.ref)',
      message: 'a workflow is started for a branch or tag: write workflow and ref together',
    },
  ],
);

const gitlab = z
  .object({
    project: project('The project, by its path or number.'),
    ref,
    url: httpUrl('The address of GitLab; by default https://gitlab.com.').exactOptional(),
    secretRef: secretKey('The Secret with the pipeline trigger token.'),
  })
  .describe('Starts a pipeline of GitLab by a trigger token.');

const gitea = z
  .object({
    repository: project('The repository, as owner/name.'),
    workflow: word('The file name of a workflow with workflow_dispatch.'),
    ref,
    url: httpUrl('The address of Gitea or Forgejo.'),
    secretRef: token,
  })
  .describe('Calls Gitea or Forgejo Actions.');

const tekton = z
  .object({
    url: httpUrl('The address of the EventListener.'),
    secretRef: secretKey('The Secret with which the request is signed.').exactOptional(),
  })
  .describe('Calls an EventListener of Tekton.');

const jenkins = z
  .object({
    url: httpUrl('The address of Jenkins.'),
    job: word('The path of the job: "folder/name".'),
    secretRef: secretKey('The Secret with USER:TOKEN.'),
  })
  .describe('Starts a job of Jenkins with parameters.');

const webhook = z
  .object({ url: httpUrl('The address.'), secretRef: secretKey('The Secret with the signing key of standard webhooks.') })
  .describe('Sends a signed CloudEvent.');

const systems = ['github', 'gitlab', 'gitea', 'tekton', 'jenkins', 'webhook'] as const;

const trigger = withRules(
  z
    .object({
      images,
      sources: distinct(
        z
          .array(
            z
              .string()
              .min(1)
              .max(255)
              .regex(/^[A-Za-z0-9._/*-]+$/, 'a repository of the CI system, in which "*" stands for any characters: "shop/*"')
              .describe('A repository, such as "shop/*", in which "*" stands for any characters, also for slashes.'),
          )
          .min(1)
          .max(32)
          .describe('Which repositories may be rebuilt, where images name them ($source); by default all on the host of the CI system.'),
      ).exactOptional(),
      rebuildWithin: duration(
        'How long the rebuilt image may take before the status says that it is overdue; by default 2h.',
      ).exactOptional(),
      github: github.exactOptional(),
      gitlab: gitlab.exactOptional(),
      gitea: gitea.exactOptional(),
      tekton: tekton.exactOptional(),
      jenkins: jenkins.exactOptional(),
      webhook: webhook.exactOptional(),
    })
    .describe(`Requests a rebuild from the CI system, once for each base and source: exactly one of ${systems.join(', ')}.`),
  [
    {
      rule: `[${systems.map((system) => `has(self.${system})`).join(', ')}].filter(x, x).size() == 1`,
      message: `write exactly one of ${systems.join(', ')}`,
    },
  ],
);

const rebase = z
  .object({
    images: imagesOf('The images that the action applies to, by their repositories; by default all.').exactOptional(),
    tag: text(
      64,
      /^\$tag-base\.\$date(?:[.-][A-Za-z0-9]+)?$/,
      '"$tag-base.$date", with an addition at most, so that other policies recognize the image',
      'The tag of the rebased image; by default "$tag-base.$date".',
    ).exactOptional(),
    allow: distinct(
      z
        .array(
          withChecks(
            z
              .string()
              .min(1)
              .max(63)
              .regex(/^[A-Z][A-Za-z]*$/, 'the name of a rule')
              .describe('The name of a rule.'),
            checkRule,
          ),
        )
        .max(32)
        .describe('Rules that are not checked: changes of the base that this policy accepts.'),
    ).exactOptional(),
    pushSecret: z
      .object({ name: name('Name of the Secret.') })
      .describe(
        "A Secret of type kubernetes.io/dockerconfigjson, in the namespace of the policy, that may push to the repositories; used for nothing else. By default image-watcher's own credentials, where its configuration permits that (consents[].push).",
      )
      .exactOptional(),
    sign: z
      .object({ keyRef: secretKey('The Secret with the private key in PEM form.') })
      .exactOptional()
      .describe('Signs rebased images as cosign does.'),
  })
  .describe("Replaces the base's layers of the image in the registry, pushes the result under a new tag, and rolls it out in waves.");

const restart = z
  .object({ images })
  .describe('Restarts workloads that run a mutable tag with imagePullPolicy: Always when the digest of the tag has changed.');

const actions = ['rebase', 'trigger', 'restart', 'report'] as const;

/** The schema of one action of `spec.onNewBase`. */
export const action = withRules(
  z
    .object({
      rebase: rebase.exactOptional(),
      trigger: trigger.exactOptional(),
      restart: restart.exactOptional(),
      report: z.object({}).exactOptional().describe('Only reports the image, whatever it is.'),
    })
    .describe(`One action: exactly one of ${actions.join(', ')}.`),
  [
    {
      rule: `[${actions.map((action) => `has(self.${action})`).join(', ')}].filter(x, x).size() == 1`,
      message: `write exactly one of ${actions.join(', ')}; for example "report: {}"`,
    },
  ],
);

/** Checks that no action of `spec.onNewBase` comes after others that apply to all of its images. Only `report` may, because it always applies. */
export function checkReachable(onNewBase: unknown): Finding[] {
  const patterns = Array.isArray(onNewBase) ? onNewBase.map(patternsOf) : [];
  return patterns.flatMap((own, index) => {
    if (own === 'all' || own.length === 0) return [];
    const earlier = patterns.slice(0, index);
    // For each pattern, the first action that applies to the same images.
    const covering = own.map((narrow) => earlier.findIndex((one) => one === 'all' || one.some((wide) => coversPattern(wide, narrow))));
    if (covering.includes(-1)) return [];
    const message = `never applies, because onNewBase[${Math.max(...covering)}] comes first and applies to the same images: write what is more specific first, and report last`;
    return [{ keys: [index], message }];
  });
}

/** The patterns of the images that an action applies to; none where its schema reports an error. */
function patternsOf(written: unknown): string[] | 'all' {
  if (has(written, 'report')) return 'all';
  const rebased = fieldOf(written, 'rebase');
  if (typeof rebased === 'object' && rebased !== null && !has(rebased, 'images')) return ['*'];
  const images = actions.map((action) => fieldOf(fieldOf(written, action), 'images')).find(Array.isArray);
  const entries: readonly unknown[] = images ?? [];
  return entries.flatMap((entry) => (typeof entry === 'string' ? [normalisePattern(entry)] : []));
}

function checkImagePattern(value: unknown): Finding[] {
  const text = String(value);
  // A tag and invalid characters in a pattern are reported by the schema.
  return /:[^/]*$/.test(text) ? [] : findingOf(() => checkRepositoryPattern(text));
}

/** Checks the name of a rule. An enum would make the API server refuse the rules of a later version before that version is installed. */
function checkRule(value: unknown): Finding[] {
  const name = String(value);
  // A text that cannot be a name is reported by the schema.
  if (!/^[A-Z]/.test(name) || rebaseRules.some((known) => known === name)) return [];
  return [{ message: `there is no rule "${name}": the rules are ${rebaseRules.join(', ')}` }];
}

/** Refuses the segments `.` and `..`, which would lead to another resource of the CI system in a URL. */
function checkSegments(value: unknown): Finding[] {
  return /(?:^|\/)\.\.?(?:\/|$)/.test(String(value)) ? [{ message: 'write the path without "." and ".." between slashes' }] : [];
}

function checkUrl(value: unknown): Finding[] {
  const url = URL.parse(String(value));
  if (url === null) return [{ message: 'is not a URL' }];
  return url.search === '' && url.hash === '' ? [] : [{ message: 'write the URL without "?" and "#"' }];
}
