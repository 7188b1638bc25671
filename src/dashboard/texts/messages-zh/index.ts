import { alongsideZh } from './alongside.ts';
import { attestationsZh } from './attestations.ts';
import { basesZh } from './bases.ts';
import { checksZh } from './checks.ts';
import { deliveriesZh } from './deliveries.ts';
import { environmentsZh } from './environments.ts';
import { fixesZh } from './fixes.ts';
import { planZh } from './plan.ts';
import { provenanceZh } from './provenance.ts';
import { pushesZh } from './pushes.ts';
import { rebaseZh } from './rebase.ts';
import { registriesZh } from './registries.ts';
import { rolloutsZh } from './rollouts.ts';
import { scansZh } from './scans.ts';
import { serviceZh } from './service.ts';
import { signaturesZh } from './signatures.ts';
import { specFieldsZh } from './spec-fields.ts';
import { specsZh } from './specs.ts';
import { vulnerabilitiesZh } from './vulnerabilities.ts';

/** What messages say, in Chinese, by the English sentence as the sources have it, with `{0}`, `{1}` for what is put in. */
export const messagesZh: Readonly<Record<string, string>> = {
  ...planZh,
  ...rolloutsZh,
  ...checksZh,
  ...environmentsZh,
  ...alongsideZh,
  ...basesZh,
  ...rebaseZh,
  ...registriesZh,
  ...signaturesZh,
  ...provenanceZh,
  ...vulnerabilitiesZh,
  ...attestationsZh,
  ...scansZh,
  ...fixesZh,
  ...specsZh,
  ...specFieldsZh,
  ...serviceZh,
  ...pushesZh,
  ...deliveriesZh,
};
