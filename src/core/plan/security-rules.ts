/** What an assessment of vulnerabilities decides: whether an image may skip a wait, and whether it may replace another one. */
import type { Assessment, ComparedImage } from '../model/assessment.ts';
import type { Candidate } from '../model/image-reference.ts';
import type { PolicySpec } from '../model/image-policy.ts';
import { listFew } from '../model/text.ts';
import { isAtLeast, type RuleSeverity, type WaitException } from '../model/vulnerabilities.ts';

/** The assessment of an image, by its digest. */
export function assessmentOf({ digest }: Candidate, assessments: readonly Assessment[] = []): Assessment | undefined {
  return digest === undefined ? undefined : assessments.find((one) => one.digest === digest);
}

/** The waits for which a policy can make exceptions, by their reasons. */
const exceptions = { MinAge: 'minAgeUnless', Window: 'windowsUnless' } as const;

type Excepting = Pick<PolicySpec, (typeof exceptions)[keyof typeof exceptions]>;

/** What a policy decides about an exception of a wait; undefined if it makes none. */
export function exceptionOf(
  wait: string,
  spec: Excepting,
  image: Candidate,
  assessments: readonly Assessment[] | undefined,
): Exception | undefined {
  const field = wait === 'MinAge' || wait === 'Window' ? exceptions[wait] : undefined;
  const rule = field && spec[field];
  return rule && decideException(rule, assessmentOf(image, assessments));
}

type Advisories = ComparedImage['fixes'];

/** Whether the exception of a wait holds; `why` names the fixed vulnerabilities, or what is missing. */
export interface Exception {
  readonly holds: boolean;
  readonly why: string;
}

/** Decides about an exception: the image fixes such a vulnerability of a running image, adds none to any, and nothing that matters is unknown. */
export function decideException({ fixes: level }: WaitException, assessment: Assessment | undefined): Exception {
  if (assessment === undefined) return no('its vulnerabilities were not assessed yet');
  const { unknown, highest, replaces, unlisted } = assessment;
  if (unknown !== undefined) return no(withProblems(unknown, assessment));
  const adds = of(
    replaces.flatMap(({ adds }) => adds),
    level,
  );
  if (adds.length > 0) return no(`it adds ${listAdvisories(adds)}`);
  // The scan of a running image may be old, or those who may push have taken away the newer one.
  const doubtful = replaces.find(({ mayAdd = [] }) => of(mayAdd, level).length > 0);
  if (doubtful !== undefined)
    return no(`it may add ${listAdvisories(of(doubtful.mayAdd ?? [], level))}, for which ${doubtful.image} was not scanned`);
  // Without a comparison, whatever it has may be new.
  const unlike = replaces.find((one) => one.unknown !== undefined);
  const hasSuch = highest !== undefined && isAtLeast(highest, level);
  if (unlike !== undefined && hasSuch) return no(`it cannot be compared with ${unlike.image}: ${unlike.unknown}`);
  if (unlisted === true && hasSuch) return no('it replaces too many images to compare it with all of them');
  // Whoever may push could move the tag to an image with a vulnerability that the new one does not have.
  const fixes = of(
    replaces.flatMap(({ fixes, byTag }) => (byTag === true ? [] : fixes)),
    level,
  );
  if (fixes.length > 0) return { holds: true, why: `it fixes ${listAdvisories(fixes)}` };
  if (unlike !== undefined) return no(`it cannot be compared with ${unlike.image}: ${unlike.unknown}`);
  const moving = replaces.find(({ fixes, byTag }) => byTag === true && of(fixes, level).length > 0);
  if (moving !== undefined)
    return no(
      `it fixes ${listAdvisories(of(moving.fixes, level))} of ${moving.image}, of which only the tag is known, which may have moved`,
    );
  return no(`it fixes no vulnerability that is ${orAbove(level)}`);
}

/** Why an image must not replace a running one; undefined if it may. `isUnknown`: that may change by itself, when evidence comes. */
export interface Veto {
  readonly isUnknown: boolean;
  readonly message: string;
}

/** Decides whether an image may replace a running one, written as the target names it: it must not have more vulnerabilities of this severity. */
export function findVeto(level: RuleSeverity, assessment: Assessment | undefined, image: string): Veto | undefined {
  if (assessment === undefined) return unclear('its vulnerabilities were not assessed yet');
  if (assessment.unknown !== undefined) return unclear(withProblems(assessment.unknown, assessment));
  const { highest, replaces } = assessment;
  if (highest === undefined || !isAtLeast(highest, level)) return undefined;
  const compared = replaces.find((one) => one.image === image);
  if (compared === undefined) return unclear(`it was not compared with ${image}`);
  if (compared.unknown !== undefined) return unclear(`it cannot be compared with ${image}: ${compared.unknown}`);
  const { more, adds } = compared;
  if (more === undefined || !isAtLeast(more.severity, level)) return undefined;
  const named = of(adds, level);
  const severity = orAbove(more.severity);
  const all = more.count === 1 ? `1 vulnerability that is ${severity}` : `${more.count} vulnerabilities that are ${severity}`;
  const message = `it has ${all}, and ${image} has ${more.running}`;
  return { isUnknown: false, message: named.length === 0 ? message : `${message}: it adds ${listAdvisories(named)}` };
}

const no = (why: string): Exception => ({ holds: false, why });
const unclear = (message: string): Veto => ({ isUnknown: true, message });

/** The advisories of a list, for people. */
export function listAdvisories(advisories: Advisories): string {
  return listFew(advisories, ({ id, severity }) => `${id} (${severity})`);
}

function of(advisories: Advisories, level: RuleSeverity): Advisories {
  const ids = new Set<string>();
  return advisories.filter(({ id, severity }) => isAtLeast(severity, level) && !ids.has(id) && ids.add(id).size > 0);
}

function orAbove(severity: string): string {
  return severity === 'Critical' ? severity : `${severity} or above`;
}

function withProblems(why: string, { problems = [] }: Assessment): string {
  const [problem] = problems;
  return problem === undefined ? why : `${why}: ${problem}`;
}
