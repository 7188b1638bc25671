import { ecr } from '../../../src/receive/providers/ecr.ts';
import { testProvider } from './conformance.ts';

testProvider({ provider: ecr, credentials: ['x-webhook-secret'] });
