/** What the vulnerabilities of a selected image say about a change to it, as the status of a policy keeps it. `plan/assess-vulnerabilities.ts` makes it. */
import { z } from 'zod';
import type { Immutable } from './immutable.ts';
import { count, digest, image, tag, text, time } from './status-fields.ts';
import { vulnerabilitySeverities } from './vulnerabilities.ts';

/** The maximum number of assessments in a status (the selected image, and the one that waits), of compared images, and of listed advisories. */
export const maxAssessments = 2;
export const maxCompared = 5;
export const maxAdvisories = 10;

const severity = (description: string) => z.enum(vulnerabilitySeverities).describe(description);

const advisories = (description: string) =>
  z
    .array(z.object({ id: text(64, 'Its id, such as CVE-2026-1234.'), severity: severity('Its severity.') }).describe('A vulnerability.'))
    .max(maxAdvisories)
    .describe(description);

const compared = z
  .object({
    image: image('The image that runs.'),
    digest: digest('Its digest.').exactOptional(),
    byTag: z
      .boolean()
      .exactOptional()
      .describe(
        'Whether its digest is only what its tag points to now, which whoever may push can move: then what it fixes skips no wait.',
      ),
    unknown: text(512, 'Why the two images cannot be compared; absent if they were.').exactOptional(),
    fixes: advisories(`The vulnerabilities that the change fixes: the ${maxAdvisories} most severe.`),
    adds: advisories(`The vulnerabilities that the change adds: the ${maxAdvisories} most severe.`),
    mayAdd: advisories(
      'The vulnerabilities that the change may add, because the image that runs was not scanned for them; absent if there are none.',
    ).exactOptional(),
    more: z
      .object({
        severity: severity('The highest severity from which on the new image has more.'),
        count: count('How many the new image has.'),
        running: count('How many the running image has.'),
      })
      .exactOptional()
      .describe('That the new image has more vulnerabilities; absent if it has not.'),
  })
  .describe('The comparison with one image that would be replaced.');

/** The schema of an assessment. */
const assessment = z
  .object({
    tag: tag('The tag of the image.'),
    digest: digest('The digest of the image.'),
    at: time('Since when this is known as it is.'),
    unknown: text(512, 'Why its vulnerabilities are not known; absent if they are.').exactOptional(),
    by: text(512, 'Whose reports count.').exactOptional(),
    highest: severity('The highest severity of its vulnerabilities; absent if it has none, or if they are not known.').exactOptional(),
    replaces: z.array(compared).max(maxCompared).describe(`The images that it would replace: the first ${maxCompared}.`),
    unlisted: z.boolean().exactOptional().describe('Whether it would replace more images, which were not compared.'),
    problems: z.array(text(512, 'What does not count, and why.')).max(5).exactOptional().describe('Evidence that does not count.'),
  })
  .describe('What is known of the vulnerabilities of an image (spec.verify.vulnerabilities).');

export const assessments = z
  .array(assessment)
  .max(maxAssessments)
  .exactOptional()
  .describe('What is known of the vulnerabilities of the selected image, and of the image that waits.');

/** The assessment of one image. */
export type Assessment = Immutable<z.output<typeof assessment>>;
/** The comparison of a selected image with one running image. */
export type ComparedImage = Assessment['replaces'][number];
