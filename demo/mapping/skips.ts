/** Why an event of GitHub has nothing to become in a suite of documents: "because …". */
const REASONS: readonly (readonly [string, readonly string[]])[] = [
  [
    'code and builds are not documents',
    [
      'branch_protection_rule',
      'check_run',
      'check_suite',
      'create',
      'delete',
      'deploy_key',
      'deployment',
      'deployment_review',
      'deployment_status',
      'fork',
      'merge_group',
      'package',
      'page_build',
      'push',
      'repository_dispatch',
      'repository_import',
      'status',
      'workflow_dispatch',
      'workflow_job',
      'workflow_run',
    ],
  ],
  [
    'security alerts are not documents',
    [
      'code_scanning_alert',
      'dependabot_alert',
      'repository_vulnerability_alert',
      'security_advisory',
    ],
  ],
  [
    'it is about GitHub itself (apps, webhooks, payments, blocked accounts)',
    [
      'github_app_authorization',
      'installation',
      'installation_repositories',
      'marketplace_purchase',
      'meta',
      'org_block',
      'ping',
      'sponsorship',
    ],
  ],
  [
    'labels, milestones and boards do not exist here by themselves',
    ['label', 'milestone', 'project', 'project_card', 'project_column', 'projects_v2_item'],
  ],
];

export const SKIP = {
  transfer: 'nothing moves from one archive or workspace to another',
  workspaceName: 'a workspace cannot be renamed yet',
  workspaceInvitation: 'people are added to a workspace, not invited',
  shared: 'an archive belongs to one squad; it cannot be shared with a second one',
  unchanged: 'the example names no change',
} as const;

const BY_EVENT = new Map(
  REASONS.flatMap(([reason, events]) => events.map((event) => [event, reason] as const)),
);

export function skipReason(event: string): string {
  return BY_EVENT.get(event) ?? 'this demo does not know the event';
}
