-- What may be written into a subscription. Whether the address can be reached, and may be, is found out at every send.
-- Called by: create_webhook_subscription(), change_webhook_subscription(), as bellwire_definer.
-- Errors: 22023 for a bad URL, a long name, no types at all or one that is not emitted.
create or replace function bellwire.check_webhook(url text, event_types text[], name text)
returns void
language plpgsql
stable
set search_path = ''
as $$
declare
  unknown text;
begin
  -- One @ before the path would be a user name or password, which is no place for either.
  if url is null or url !~* '^https?://[^\s\\/?#@]+([/?#][^\s\\]*)?$' or char_length(url) > 2000 then
    raise exception 'a receiver is an http or https URL of at most 2000 characters, without a user name'
      using errcode = '22023', hint = 'For example https://example.com/hooks.';
  end if;
  if char_length(name) not between 1 and 255 then
    raise exception 'the name of a receiver has 1 to 255 characters'
      using errcode = '22023', hint = 'Shorten it, or pass null for none.';
  end if;
  if cardinality(event_types) = 0 or array_position(event_types, null) is not null then
    raise exception 'a receiver without event types would get nothing'
      using errcode = '22023', hint = 'Pass null for all types.';
  end if;
  select string_agg(wanted.type, ', ') into unknown
  from unnest(event_types) as wanted(type)
  where not exists (select from bellwire.action_rules as rule where rule.action = wanted.type and rule.emits);
  if unknown is not null then
    raise exception 'no event has the type %', left(unknown, 200)
      using errcode = '22023', hint = 'select action from bellwire.action_rules where emits';
  end if;
end
$$;

comment on function bellwire.check_webhook(text, text[], text) is 'Raises unless a webhook subscription may look like this.';

revoke all on function bellwire.check_webhook(text, text[], text) from public;
