/** The list of providers. All steps to add one: test/structure/worked-examples/provider.ts. */
import { acr } from './acr.ts';
import { aliyun } from './aliyun.ts';
import { artifactory } from './artifactory.ts';
import { cdevents } from './cdevents.ts';
import { distribution } from './distribution.ts';
import { dockerHub } from './docker-hub.ts';
import { ecr } from './ecr.ts';
import { generic } from './generic.ts';
import { ghcr } from './ghcr.ts';
import { gitea } from './gitea.ts';
import { google } from './google.ts';
import { harbor } from './harbor.ts';
import { huawei } from './huawei.ts';
import { nexus } from './nexus.ts';
import type { Provider } from './provider.ts';
import { quay } from './quay.ts';
import { tencent } from './tencent.ts';
import { zot } from './zot.ts';

export const providers: readonly Provider[] = [
  acr,
  aliyun,
  artifactory,
  cdevents,
  distribution,
  dockerHub,
  ecr,
  generic,
  ghcr,
  gitea,
  google,
  harbor,
  huawei,
  nexus,
  quay,
  tencent,
  zot,
];

/** The ids of the providers, for the configuration. */
export const providerIds: readonly string[] = providers.map((provider) => provider.id);
