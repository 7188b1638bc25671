/** `spec` of ImagePolicy v1, as users write it. The zod schema is the source of the CRD, of the reference and of the types. */
import { z } from 'zod';
import { withRules } from './rules.ts';

const maxPattern = 512;
const name = (what: string) => z.string().min(1).max(253).describe(what);
const namespace = (what: string) => z.string().min(1).max(63).describe(what);
const duration = (what: string) =>
  z
    .string()
    .max(32)
    .regex(/^(?:[0-9]+h)?(?:[0-9]+m)?(?:[0-9]+s)?$/)
    .describe(`${what} A duration in h, m and s: "90s", "1h30m".`);

const order = z
  .enum(['Ascending', 'Descending'])
  .default('Ascending')
  .describe('Ascending: the last one in ascending order is selected, which is the greatest. Descending: the smallest.');

const select = withRules(
  z
    .object({
      semver: z
        .object({
          range: z
            .string()
            .max(maxPattern)
            .optional()
            .describe('A range in npm syntax, such as "1.18.*" or ">=1.4 <2"; none means the highest stable version.'),
          prereleases: z
            .boolean()
            .default(false)
            .describe('Whether prereleases such as 2.0.0-rc.1 are candidates although the range does not name one.'),
        })
        .optional()
        .describe(
          'The highest semantic version (semver.org) in a range. A leading "v" is allowed; nothing is coerced: "1.2" is no version.',
        ),
      digest: z
        .object({ tag: z.string().min(1).max(128).describe('The moving tag, such as "latest" or "main".') })
        .optional()
        .describe('Follows one moving tag: whatever it points to is what should run.'),
      newest: z.object({}).optional().describe('The image that was created last, by its own creation time.'),
      alphabetical: z
        .object({ order })
        .optional()
        .describe('The last tag in the order of characters, for dates and timestamps of a fixed width.'),
      numerical: z.object({ order }).optional().describe('The greatest tag by number, for build numbers and timestamps.'),
    })
    .describe('How the tag is chosen among the candidates: exactly one of semver, digest, newest, alphabetical, numerical.'),
  [
    {
      rule: '[has(self.semver), has(self.digest), has(self.newest), has(self.alphabetical), has(self.numerical)].filter(x, x).size() == 1',
      message: 'write exactly one of semver, digest, newest, alphabetical, numerical; for example "semver: {}"',
    },
  ],
);

const tags = withRules(
  z
    .object({
      allow: z
        .string()
        .min(1)
        .max(maxPattern)
        .optional()
        .describe('An RE2 expression that must match the whole tag; named groups can be used in extract.'),
      extract: z
        .string()
        .min(1)
        .max(maxPattern)
        .optional()
        .describe('What of the tag is compared: "$version" is the group "version" of allow. Without it the whole tag.'),
      ignore: z
        .array(z.string().min(1).max(maxPattern).describe('An RE2 expression.'))
        .max(32)
        .optional()
        .describe('RE2 expressions; a tag in which one of them is found is no candidate.'),
    })
    .describe('Which tags are candidates, before one of them is chosen.'),
  [
    {
      rule: '!has(self.extract) || has(self.allow)',
      message: 'extract takes its groups from allow: write allow as well, such as "^v(?P<version>.*)$" with extract "$version"',
    },
  ],
);

const selector = withRules(
  z
    .object({
      matchLabels: z
        .record(z.string(), z.string().max(63).describe('The value of the label.'))
        .meta({ maxProperties: 32 })
        .optional()
        .describe('Labels that the workload has, each with this value.'),
      matchExpressions: z
        .array(
          z
            .object({
              key: z.string().min(1).max(317).describe('The name of the label.'),
              operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']).describe('How the values are compared.'),
              values: z.array(z.string().max(63).describe('A value.')).max(64).optional().describe('Values for In and NotIn.'),
            })
            .describe('One requirement.'),
        )
        .max(32)
        .optional()
        .describe('Requirements that all have to hold.'),
    })
    .describe('Selects workloads of the kind by their labels, in one namespace.'),
  [
    {
      rule: '(has(self.matchLabels) && self.matchLabels.size() > 0) || (has(self.matchExpressions) && self.matchExpressions.size() > 0)',
      message: 'an empty selector would select everything: write matchLabels or matchExpressions',
    },
  ],
);

const fieldPath = (what: string) => z.string().min(1).max(512).optional().describe(`${what} A path such as "spec.values.image.tag".`);

const target = withRules(
  z
    .object({
      apiVersion: z
        .string()
        .min(1)
        .max(317)
        .optional()
        .describe('API version of a custom resource, such as "argoproj.io/v1alpha1"; not needed for the kinds of Kubernetes itself.'),
      kind: z
        .string()
        .min(1)
        .max(63)
        .describe('Kind of the workload: Deployment, StatefulSet, DaemonSet, CronJob, or that of a custom resource.'),
      name: name('Name of the workload.').optional(),
      selector: selector.optional(),
      namespace: namespace(
        "Namespace of the workload; the policy's own unless given. Another one needs the consent of its owners.",
      ).optional(),
      containers: z
        .array(z.string().min(1).max(63).describe('Name of a container.'))
        .min(1)
        .max(64)
        .optional()
        .describe('Only these containers; without it all that run the image.'),
      initContainers: z.boolean().default(false).describe('Whether init containers that run the image are updated too.'),
      fields: z
        .object({
          image: fieldPath('The field that holds the whole image reference.'),
          repository: fieldPath('The field that holds the repository.'),
          tag: fieldPath('The field that holds the tag.'),
          digest: fieldPath('The field that holds the digest.'),
        })
        .optional()
        .describe('For custom resources without a pod template: the fields that are written.'),
    })
    .describe('A workload, or the workloads that a selector finds.'),
  [
    { rule: 'has(self.name) != has(self.selector)', message: 'write either name or selector' },
    {
      rule: '!has(self.fields) || has(self.apiVersion)',
      message: 'fields are for custom resources: write apiVersion as well, such as helm.toolkit.fluxcd.io/v2',
    },
  ],
);

const time = (what: string) =>
  z
    .string()
    .max(5)
    .regex(/^(?:[01][0-9]|2[0-3]):[0-5][0-9]$/)
    .describe(`${what} HH:MM in the time zone of the window.`);

const window = withRules(
  z
    .object({
      days: z
        .array(z.enum(['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']).describe('A day.'))
        .min(1)
        .max(7)
        .optional()
        .describe('Days on which the window starts; without it every day.'),
      from: time('When it opens.'),
      to: time('When it closes; earlier than "from" means on the next day.'),
      timeZone: z.string().min(1).max(64).default('UTC').describe('IANA time zone, such as "Europe/Berlin".'),
    })
    .describe('A time of the week.'),
  [{ rule: 'self.from != self.to', message: 'from and to are the same time: write when the window closes' }],
);

const update = z
  .object({
    mode: z
      .enum(['Automatic', 'Approval', 'DryRun'])
      .default('Automatic')
      .describe('Automatic: changes workloads. Approval: waits until somebody approves the digest. DryRun: only tells what it would do.'),
    pin: z
      .enum(['Tag', 'Digest'])
      .optional()
      .describe(
        'What is written: Tag is repository:tag, Digest is repository:tag@sha256:…. Without it Tag, but Digest with select.digest.',
      ),
    allowDowngrade: z.boolean().default(false).describe('Whether an older tag may replace a newer one.'),
    windows: z
      .array(window)
      .max(32)
      .optional()
      .describe('When workloads may be changed; without it always. An update found outside waits.'),
  })
  .describe('How a selected image reaches the workloads.');

const rollout = z
  .object({
    watch: z.boolean().default(true).describe('Whether the rollout is watched until it is done or failed.'),
    timeout: duration('How long a rollout may take.').default('10m'),
    onFailure: z
      .enum(['Rollback', 'Hold', 'Ignore'])
      .default('Rollback')
      .describe('Rollback: the previous image is put back. Hold: nothing more is changed. Ignore: the failure is only told.'),
  })
  .describe('What happens after a workload was changed.');

const verify = z
  .object({
    cosign: z
      .object({
        keys: z
          .array(
            z
              .object({
                secretRef: z
                  .object({
                    name: name('Name of the Secret, in the namespace of the policy.'),
                    key: z.string().min(1).max(253).describe('Key in the Secret.'),
                  })
                  .describe('The Secret that holds the public key.'),
              })
              .describe('A public key in PEM form.'),
          )
          .min(1)
          .max(8)
          .describe('Public keys; a signature by one of them is enough.'),
      })
      .describe('Signatures made by cosign.'),
  })
  .describe('What has to hold of an image before it is used.');

/** `spec` of a v1 policy. */
export const specSchema = z
  .object({
    image: z
      .string()
      .min(1)
      .max(255)
      .describe('Image repository without a tag, such as "harbor.example.com/shop/web" or "library/nginx" (Docker Hub).'),
    select,
    tags: tags.optional(),
    platforms: z
      .array(
        z
          .string()
          .max(64)
          .regex(/^[a-z0-9]+\/[a-z0-9_]+(?:\/[a-z0-9]+)?$/)
          .describe('A platform such as "linux/amd64" or "linux/arm/v7".'),
      )
      .max(16)
      .optional()
      .describe('Platforms that the image must have, all of them.'),
    minAge: duration('How long a digest must have been known before it is used, counted from its first sight.').optional(),
    pullSecrets: z
      .array(z.object({ name: name('Name of the Secret.') }).describe('A Secret of type kubernetes.io/dockerconfigjson.'))
      .max(16)
      .optional()
      .describe('Secrets in the namespace of the policy with which the registry is asked.'),
    targets: z.array(target).min(1).max(64).describe('What is kept up to date.'),
    update: update.optional(),
    rollout: rollout.optional(),
    verify: verify.optional(),
    poll: z
      .object({
        interval: duration(
          "How often the registry is asked for what no webhook announced; the configuration's poll.interval unless given.",
        ).optional(),
      })
      .optional()
      .describe('The fallback for webhooks that never came.'),
    suspend: z.boolean().default(false).describe('Whether the policy is left alone: nothing is looked at or changed while true.'),
  })
  .describe('What to watch, what to choose and what to update.');

export type Spec = z.input<typeof specSchema>;
