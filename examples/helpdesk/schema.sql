-- A plain help desk: people, teams, tickets, replies. It knows nothing of Bellwire.
do $$
begin
  if not exists (select from pg_roles where rolname = 'helpdesk_app') then
    create role helpdesk_app login;
  end if;
end
$$;

create schema helpdesk;
grant usage on schema helpdesk to helpdesk_app;

create type helpdesk.ticket_status as enum ('new', 'open', 'waiting', 'solved');

create table helpdesk.users (
  id uuid primary key default gen_random_uuid(),
  email text not null unique,
  display_name text not null,
  avatar text,
  is_disabled boolean not null default false,
  created_at timestamptz not null default now()
);

create table helpdesk.agents (
  user_id uuid primary key references helpdesk.users on delete cascade,
  is_supervisor boolean not null default false
);

create table helpdesk.teams (
  id uuid primary key default gen_random_uuid(),
  name text not null unique
);

create table helpdesk.team_agents (
  team_id uuid references helpdesk.teams on delete cascade,
  user_id uuid references helpdesk.agents on delete cascade,
  is_lead boolean not null default false,
  primary key (team_id, user_id)
);

create table helpdesk.customers (
  id uuid primary key default gen_random_uuid(),
  company text not null,
  contact_id uuid not null references helpdesk.users
);

-- A ticket without a team is in triage.
create table helpdesk.tickets (
  id bigint generated always as identity primary key,
  customer_id uuid not null references helpdesk.customers,
  team_id uuid references helpdesk.teams,
  assignee_id uuid references helpdesk.agents,
  subject text not null,
  status helpdesk.ticket_status not null default 'new',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  solved_at timestamptz
);

create table helpdesk.replies (
  id bigint generated always as identity primary key,
  ticket_id bigint not null references helpdesk.tickets on delete cascade,
  author_id uuid not null references helpdesk.users,
  body_html text not null,
  created_at timestamptz not null default now()
);

create table helpdesk.audit (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  what text not null
);

-- The application says who it works for: set_config('helpdesk.user_id', …, true) in each transaction.
create function helpdesk.me() returns uuid language sql stable
return nullif(current_setting('helpdesk.user_id', true), '')::uuid;

create function helpdesk.stamp_ticket() returns trigger language plpgsql as $$
begin
  new.updated_at := now();
  new.subject := trim(new.subject);
  new.solved_at := case when new.status = 'solved' then coalesce(old.solved_at, now()) end;
  return new;
end
$$;
create trigger stamp_ticket before insert or update on helpdesk.tickets
  for each row execute function helpdesk.stamp_ticket();

-- A reply from the customer wakes a ticket that waits for one, and a solved one too.
create function helpdesk.wake_ticket() returns trigger language plpgsql security definer as $$
begin
  update helpdesk.tickets as ticket set status = 'open'
  from helpdesk.customers as customer
  where ticket.id = new.ticket_id and customer.id = ticket.customer_id
    and customer.contact_id = new.author_id and ticket.status in ('waiting', 'solved');
  return new;
end
$$;
create trigger wake_ticket after insert on helpdesk.replies
  for each row execute function helpdesk.wake_ticket();

create function helpdesk.audit_tickets() returns trigger language plpgsql security definer as $$
begin
  insert into helpdesk.audit (what) select format('%s %s', lower(tg_op), id) from changed;
  return null;
end
$$;
create trigger audit_insert after insert on helpdesk.tickets
  referencing new table as changed for each statement execute function helpdesk.audit_tickets();
create trigger audit_update after update on helpdesk.tickets
  referencing new table as changed for each statement execute function helpdesk.audit_tickets();

-- Agents see what is in triage or in their teams, supervisors everything, customers their own.
create function helpdesk.sees_ticket(team uuid, customer uuid) returns boolean language sql stable security definer
begin atomic
  select exists (
      select from helpdesk.agents as agent
      where agent.user_id = helpdesk.me()
        and (agent.is_supervisor or team is null or exists (
          select from helpdesk.team_agents as member where member.team_id = team and member.user_id = agent.user_id)))
    or exists (select from helpdesk.customers as own where own.id = customer and own.contact_id = helpdesk.me());
end;

alter table helpdesk.tickets enable row level security;
create policy see_tickets on helpdesk.tickets using (helpdesk.sees_ticket(team_id, customer_id));
alter table helpdesk.replies enable row level security;
alter table helpdesk.replies force row level security;
create policy see_replies on helpdesk.replies
  using (exists (select from helpdesk.tickets as ticket where ticket.id = ticket_id));

grant select, insert, update, delete on all tables in schema helpdesk to helpdesk_app;
