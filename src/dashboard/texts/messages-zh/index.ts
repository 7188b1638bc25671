import { basesZh } from './bases.ts';
import { deliveriesZh } from './deliveries.ts';
import { planZh } from './plan.ts';
import { pushesZh } from './pushes.ts';
import { rebaseZh } from './rebase.ts';
import { registriesZh } from './registries.ts';
import { rolloutsZh } from './rollouts.ts';
import { serviceZh } from './service.ts';
import { signaturesZh } from './signatures.ts';
import { specFieldsZh } from './spec-fields.ts';
import { specsZh } from './specs.ts';

/** What messages say, in Chinese, by the English sentence as the sources have it, with `{0}`, `{1}` for what is put in. */
export const messagesZh: Readonly<Record<string, string>> = {
  ...planZh,
  ...rolloutsZh,
  ...basesZh,
  ...rebaseZh,
  ...registriesZh,
  ...signaturesZh,
  ...specsZh,
  ...specFieldsZh,
  ...serviceZh,
  ...pushesZh,
  ...deliveriesZh,
};
