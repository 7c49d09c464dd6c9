// Made of the OpenAPI document by make ui; do not edit. Document: a9751200da21ddff1dd560a433335ef9c6ed8b0a795de5c10259b09ab2039411
export interface paths {
    "/api/v1/alert-rules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_alert_rules"];
        put?: never;
        post: operations["create_alert_rule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alert-rules/kinds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_alert_kinds"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alert-rules/{rule_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_alert_rule"];
        put?: never;
        post?: never;
        delete: operations["delete_alert_rule"];
        options?: never;
        head?: never;
        patch: operations["update_alert_rule"];
        trace?: never;
    };
    "/api/v1/alerts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_alerts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts/{alert_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_alert"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts/{alert_id}/ack": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["acknowledge_alert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts/{alert_id}/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["resolve_alert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/alerts/{alert_id}/silence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["silence_alert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_api_keys"];
        put?: never;
        post: operations["create_api_key"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/api-keys/{key_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["revoke_api_key"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_apps"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/adopt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["adopt_apps"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/discovered": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_discovered_apps"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/update-all": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["update_all_apps"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/updates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_app_updates"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_app"];
        put?: never;
        post?: never;
        delete: operations["uninstall_app"];
        options?: never;
        head?: never;
        patch: operations["reconfigure_app"];
        trace?: never;
    };
    "/api/v1/apps/{app_id}/clone": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["clone_app"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app_id}/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_app_config"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app_id}/console/tickets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["create_app_console_ticket"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app_id}/console/ws": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["connect_app_console"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app_id}/firewall/aliases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_app_firewall_aliases"];
        put?: never;
        post: operations["create_app_firewall_alias"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app_id}/firewall/aliases/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["change_app_firewall_alias"];
        post?: never;
        delete: operations["delete_app_firewall_alias"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app_id}/firewall/ipsets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_app_firewall_ipsets"];
        put?: never;
        post: operations["create_app_firewall_ipset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app_id}/firewall/ipsets/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["delete_app_firewall_ipset"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app_id}/firewall/ipsets/{name}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_app_firewall_ipset_members"];
        put?: never;
        post: operations["add_app_firewall_ipset_member"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app_id}/firewall/ipsets/{name}/members/{cidr}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["change_app_firewall_ipset_member"];
        post?: never;
        delete: operations["remove_app_firewall_ipset_member"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app_id}/firewall/log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["read_app_firewall_log"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app_id}/firewall/log/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["follow_app_firewall_log"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app_id}/firewall/options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_app_firewall_options"];
        put: operations["change_app_firewall_options"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app_id}/firewall/refs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_app_firewall_refs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app_id}/firewall/rules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_app_firewall_rules"];
        put?: never;
        post: operations["create_app_firewall_rule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app_id}/firewall/rules/{pos}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["change_app_firewall_rule"];
        post?: never;
        delete: operations["delete_app_firewall_rule"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app_id}/firewall/rules/{pos}/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["move_app_firewall_rule"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app_id}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_app_logs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app_id}/migrate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["migrate_app"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app_id}/migrate/preflight": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["check_app_migration"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app_id}/network": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_app_nics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app_id}/network/{iface}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["change_app_nic"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app_id}/ports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_app_ports"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app_id}/script": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_app_script"];
        put: operations["put_app_script"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app_id}/script/revert": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["revert_app_script"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app_id}/script/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_app_script_versions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app_id}/snapshots": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_app_snapshots"];
        put?: never;
        post: operations["create_app_snapshot"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app_id}/snapshots/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["delete_app_snapshot"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app_id}/snapshots/{name}/rollback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["rollback_app_snapshot"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app_id}/update": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_app_update"];
        put?: never;
        post: operations["update_app"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app_id}/web-url": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["resolve_app_web_url"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app_id}/{action}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["act_on_app"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_audit"];
        put?: never;
        post?: never;
        delete: operations["clear_audit"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audit/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["export_audit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audit/verification": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["verify_audit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["export_account"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["log_in"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/logins": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_logins"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["log_out"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/logout/provider": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["log_out_at_provider"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_me"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/passkeys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_passkeys"];
        put?: never;
        post: operations["add_passkey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/passkeys/begin": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["begin_passkey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/passkeys/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["complete_passkey_log_in"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/passkeys/login/begin": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["begin_passkey_log_in"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/passkeys/{passkey_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["delete_passkey"];
        options?: never;
        head?: never;
        patch: operations["rename_passkey"];
        trace?: never;
    };
    "/api/v1/auth/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["change_password"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/preferences": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_preferences"];
        put: operations["set_preferences"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/providers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_log_in_providers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/providers/{provider_id}/callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["complete_provider_log_in"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/providers/{provider_id}/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["begin_provider_log_in"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_sessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/sessions/{session_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["revoke_session"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/totp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["complete_log_in"];
        delete: operations["disable_totp"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/totp/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["confirm_totp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/totp/enroll": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["enroll_totp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/backups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_backups"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/backups/coverage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_backup_coverage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/backups/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["run_backups"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/backups/storages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_backup_storages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/backups/{backup_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["delete_backup"];
        options?: never;
        head?: never;
        patch: operations["update_backup"];
        trace?: never;
    };
    "/api/v1/backups/{backup_id}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["restore_backup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/catalog": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_catalog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/catalog/installs/{job_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["discard_install"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/catalog/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["refresh_catalog"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/catalog/sources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_catalog_sources"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/catalog/sources/{source}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch: operations["update_catalog_source"];
        trace?: never;
    };
    "/api/v1/catalog/sources/{source}/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["accept_catalog_loss"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/catalog/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_catalog_status"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/catalog/{slug}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_catalog_entry"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/catalog/{slug}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_catalog_file"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/catalog/{slug}/icon": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_catalog_icon"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/catalog/{slug}/install": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["install_catalog_entry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/catalog/{slug}/plan": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["plan_catalog_entry"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/cluster/activity": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_activity"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/cluster/nodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_nodes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/cluster/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_cluster_summary"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/console-recordings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_console_recordings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/console-recordings/{recording_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_console_recording"];
        put?: never;
        post?: never;
        delete: operations["delete_console_recording"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/console-recordings/{recording_id}/cast": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_console_recording_cast"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/entitlements": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_entitlements"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["stream_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/cluster/{host_id}/aliases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_cluster_firewall_aliases"];
        put?: never;
        post: operations["create_cluster_firewall_alias"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/cluster/{host_id}/aliases/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["change_cluster_firewall_alias"];
        post?: never;
        delete: operations["delete_cluster_firewall_alias"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/cluster/{host_id}/groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_firewall_groups"];
        put?: never;
        post: operations["create_firewall_group"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/cluster/{host_id}/groups/{group}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["delete_firewall_group"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/cluster/{host_id}/groups/{group}/aliases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_group_firewall_aliases"];
        put?: never;
        post: operations["create_group_firewall_alias"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/cluster/{host_id}/groups/{group}/aliases/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["change_group_firewall_alias"];
        post?: never;
        delete: operations["delete_group_firewall_alias"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/cluster/{host_id}/groups/{group}/ipsets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_group_firewall_ipsets"];
        put?: never;
        post: operations["create_group_firewall_ipset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/cluster/{host_id}/groups/{group}/ipsets/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["delete_group_firewall_ipset"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/cluster/{host_id}/groups/{group}/ipsets/{name}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_group_firewall_ipset_members"];
        put?: never;
        post: operations["add_group_firewall_ipset_member"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/cluster/{host_id}/groups/{group}/ipsets/{name}/members/{cidr}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["change_group_firewall_ipset_member"];
        post?: never;
        delete: operations["remove_group_firewall_ipset_member"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/cluster/{host_id}/groups/{group}/rules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_group_firewall_rules"];
        put?: never;
        post: operations["create_group_firewall_rule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/cluster/{host_id}/groups/{group}/rules/{pos}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["change_group_firewall_rule"];
        post?: never;
        delete: operations["delete_group_firewall_rule"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/cluster/{host_id}/groups/{group}/rules/{pos}/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["move_group_firewall_rule"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/cluster/{host_id}/ipsets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_cluster_firewall_ipsets"];
        put?: never;
        post: operations["create_cluster_firewall_ipset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/cluster/{host_id}/ipsets/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["delete_cluster_firewall_ipset"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/cluster/{host_id}/ipsets/{name}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_cluster_firewall_ipset_members"];
        put?: never;
        post: operations["add_cluster_firewall_ipset_member"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/cluster/{host_id}/ipsets/{name}/members/{cidr}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["change_cluster_firewall_ipset_member"];
        post?: never;
        delete: operations["remove_cluster_firewall_ipset_member"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/cluster/{host_id}/log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["read_cluster_firewall_log"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/cluster/{host_id}/log/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["follow_cluster_firewall_log"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/cluster/{host_id}/macros": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_firewall_macros"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/cluster/{host_id}/options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_cluster_firewall_options"];
        put: operations["change_cluster_firewall_options"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/cluster/{host_id}/refs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_cluster_firewall_refs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/cluster/{host_id}/rules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_cluster_firewall_rules"];
        put?: never;
        post: operations["create_cluster_firewall_rule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/cluster/{host_id}/rules/{pos}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["change_cluster_firewall_rule"];
        post?: never;
        delete: operations["delete_cluster_firewall_rule"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/cluster/{host_id}/rules/{pos}/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["move_cluster_firewall_rule"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/drafts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_firewall_drafts"];
        put?: never;
        post: operations["create_firewall_draft"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/drafts/{draft_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_firewall_draft"];
        put: operations["change_firewall_draft"];
        post?: never;
        delete: operations["delete_firewall_draft"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/drafts/{draft_id}/commit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["commit_firewall_draft"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/drafts/{draft_id}/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["confirm_firewall_draft"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/node/{host_id}/{node}/aliases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_firewall_node_aliases"];
        put?: never;
        post: operations["create_firewall_node_alias"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/node/{host_id}/{node}/aliases/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["change_firewall_node_alias"];
        post?: never;
        delete: operations["delete_firewall_node_alias"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/node/{host_id}/{node}/ipsets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_firewall_node_ipsets"];
        put?: never;
        post: operations["create_firewall_node_ipset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/node/{host_id}/{node}/ipsets/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["delete_firewall_node_ipset"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/node/{host_id}/{node}/ipsets/{name}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_firewall_node_ipset_members"];
        put?: never;
        post: operations["add_firewall_node_ipset_member"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/node/{host_id}/{node}/ipsets/{name}/members/{cidr}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["change_firewall_node_ipset_member"];
        post?: never;
        delete: operations["remove_firewall_node_ipset_member"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/node/{host_id}/{node}/log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["read_firewall_node_log"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/node/{host_id}/{node}/log/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["follow_firewall_node_log"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/node/{host_id}/{node}/options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_firewall_node_options"];
        put: operations["change_firewall_node_options"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/node/{host_id}/{node}/refs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_firewall_node_refs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/node/{host_id}/{node}/rules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_firewall_node_rules"];
        put?: never;
        post: operations["create_firewall_node_rule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/node/{host_id}/{node}/rules/{pos}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["change_firewall_node_rule"];
        post?: never;
        delete: operations["delete_firewall_node_rule"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/node/{host_id}/{node}/rules/{pos}/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["move_firewall_node_rule"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/nodes/{host_id}/{node}/aliases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_node_firewall_aliases"];
        put?: never;
        post: operations["create_node_firewall_alias"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/nodes/{host_id}/{node}/aliases/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["change_node_firewall_alias"];
        post?: never;
        delete: operations["delete_node_firewall_alias"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/nodes/{host_id}/{node}/ipsets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_node_firewall_ipsets"];
        put?: never;
        post: operations["create_node_firewall_ipset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/nodes/{host_id}/{node}/ipsets/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["delete_node_firewall_ipset"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/nodes/{host_id}/{node}/ipsets/{name}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_node_firewall_ipset_members"];
        put?: never;
        post: operations["add_node_firewall_ipset_member"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/nodes/{host_id}/{node}/ipsets/{name}/members/{cidr}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["change_node_firewall_ipset_member"];
        post?: never;
        delete: operations["remove_node_firewall_ipset_member"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/nodes/{host_id}/{node}/log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["read_node_firewall_log"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/nodes/{host_id}/{node}/log/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["follow_node_firewall_log"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/nodes/{host_id}/{node}/options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_node_firewall_options"];
        put: operations["change_node_firewall_options"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/nodes/{host_id}/{node}/refs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_node_firewall_refs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/nodes/{host_id}/{node}/rules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_node_firewall_rules"];
        put?: never;
        post: operations["create_node_firewall_rule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/nodes/{host_id}/{node}/rules/{pos}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["change_node_firewall_rule"];
        post?: never;
        delete: operations["delete_node_firewall_rule"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/nodes/{host_id}/{node}/rules/{pos}/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["move_node_firewall_rule"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/reach": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["list_firewall_reach"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/templates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_firewall_templates"];
        put?: never;
        post: operations["create_firewall_template"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/templates/{template_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_firewall_template"];
        put: operations["change_firewall_template"];
        post?: never;
        delete: operations["delete_firewall_template"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/templates/{template_id}/drafts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["create_firewall_draft_of_template"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/firewall/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["test_firewall_packet"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/guests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_guests"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/guests/actions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["act_on_guests"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hosts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_hosts"];
        put?: never;
        post: operations["create_host"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hosts/capabilities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_capabilities"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hosts/drivers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_drivers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hosts/probe": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["probe_host"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hosts/self": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["set_self_host"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hosts/token-script": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["write_token_script"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hosts/{host_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_host"];
        put?: never;
        post?: never;
        delete: operations["remove_host"];
        options?: never;
        head?: never;
        patch: operations["patch_host"];
        trace?: never;
    };
    "/api/v1/hosts/{host_id}/credentials": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["rotate_host_credentials"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hosts/{host_id}/credentials/{kind}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["delete_host_credential"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hosts/{host_id}/nodes/{node}/hardware": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_node_hardware"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hosts/{host_id}/nodes/{node}/placement": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_placement"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hosts/{host_id}/nodes/{node}/power": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["power_node"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hosts/{host_id}/nodes/{node}/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_node_status"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hosts/{host_id}/peers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_peers"];
        put?: never;
        post: operations["enrol_peers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hosts/{host_id}/shell/tickets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["create_node_shell_ticket"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hosts/{host_id}/shell/ws": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["connect_node_shell"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hosts/{host_id}/ssh/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["verify_host_ssh"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hosts/{host_id}/sync": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["sync_host"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hosts/{host_id}/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_host_tasks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hosts/{host_id}/tasks/{upid}/log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_host_task_log"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hosts/{host_id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["test_host"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hosts/{host_id}/uploads/{upload_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_upload"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/identity-providers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_identity_providers"];
        put?: never;
        post: operations["create_identity_provider"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/identity-providers/{provider_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_identity_provider"];
        put?: never;
        post?: never;
        delete: operations["delete_identity_provider"];
        options?: never;
        head?: never;
        patch: operations["update_identity_provider"];
        trace?: never;
    };
    "/api/v1/identity-providers/{provider_id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["test_identity_provider"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_jobs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{job_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_job"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{job_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["cancel_job"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{job_id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_job_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{job_id}/events/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["stream_job_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/jobs/{job_id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["retry_job"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/maintenance-windows": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_maintenance_windows"];
        put?: never;
        post: operations["create_maintenance_window"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/maintenance-windows/{window_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_maintenance_window"];
        put?: never;
        post?: never;
        delete: operations["delete_maintenance_window"];
        options?: never;
        head?: never;
        patch: operations["update_maintenance_window"];
        trace?: never;
    };
    "/api/v1/meta/update": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_update"];
        put?: never;
        post: operations["request_update"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/metrics/guests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["scrape_guests"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/metrics/query": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["query_metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/metrics/remote-write": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_remote_write"];
        put: operations["set_remote_write"];
        post?: never;
        delete: operations["delete_remote_write"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/network/bridges": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_bridges"];
        put?: never;
        post: operations["create_bridge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/network/bridges/{host_id}/{node}/{iface}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["edit_bridge"];
        post?: never;
        delete: operations["delete_bridge"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/network/throughput": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_network_throughput"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/network/{host_id}/{node}/apply": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["apply_network"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/network/{host_id}/{node}/revert": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["revert_network"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/notification-channels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_notification_channels"];
        put?: never;
        post: operations["create_notification_channel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/notification-channels/{channel_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_notification_channel"];
        put?: never;
        post?: never;
        delete: operations["delete_notification_channel"];
        options?: never;
        head?: never;
        patch: operations["update_notification_channel"];
        trace?: never;
    };
    "/api/v1/notification-channels/{channel_id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["test_notification_channel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/notification-deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_notification_deliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_plugins"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_schedules"];
        put?: never;
        post: operations["create_schedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/kinds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_schedule_kinds"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/times": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_schedule_times"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/{schedule_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["delete_schedule"];
        options?: never;
        head?: never;
        patch: operations["update_schedule"];
        trace?: never;
    };
    "/api/v1/schedules/{schedule_id}/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["run_schedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sd/prometheus": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["discover_prometheus_targets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["search"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_settings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch: operations["patch_settings"];
        trace?: never;
    };
    "/api/v1/setup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_setup"];
        put?: never;
        post: operations["complete_setup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/storage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_storage"];
        put?: never;
        post: operations["attach_storage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/storage/{host_id}/types": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_storage_types"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/storage/{host_id}/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_storage"];
        put?: never;
        post?: never;
        delete: operations["detach_storage"];
        options?: never;
        head?: never;
        patch: operations["edit_storage"];
        trace?: never;
    };
    "/api/v1/storage/{host_id}/{name}/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_storage_content"];
        put?: never;
        post: operations["upload_content"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/storage/{host_id}/{name}/content/download": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["download_storage_content"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/storage/{host_id}/{name}/content/{volid}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["delete_storage_volume"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/storage/{host_id}/{name}/templates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_storage_templates"];
        put?: never;
        post: operations["fetch_storage_template"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/teams": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_teams"];
        put?: never;
        post: operations["create_team"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/teams/{team_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["delete_team"];
        options?: never;
        head?: never;
        patch: operations["patch_team"];
        trace?: never;
    };
    "/api/v1/teams/{team_id}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_team_members"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/teams/{team_id}/members/{user_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["set_team_member"];
        post?: never;
        delete: operations["remove_team_member"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_users"];
        put?: never;
        post: operations["create_user"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users/{user_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["delete_user"];
        options?: never;
        head?: never;
        patch: operations["patch_user"];
        trace?: never;
    };
    "/api/v1/users/{user_id}/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["reset_password"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users/{user_id}/totp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["reset_totp"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vms": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_vms"];
        put?: never;
        post: operations["create_vm"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vms/{vm_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_vm"];
        put?: never;
        post?: never;
        delete: operations["delete_vm"];
        options?: never;
        head?: never;
        patch: operations["reconfigure_vm"];
        trace?: never;
    };
    "/api/v1/vms/{vm_id}/clone": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["clone_vm"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vms/{vm_id}/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_vm_config"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vms/{vm_id}/console/tickets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["create_vm_console_ticket"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vms/{vm_id}/console/ws": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["connect_vm_console"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vms/{vm_id}/firewall/aliases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_vm_firewall_aliases"];
        put?: never;
        post: operations["create_vm_firewall_alias"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vms/{vm_id}/firewall/aliases/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["change_vm_firewall_alias"];
        post?: never;
        delete: operations["delete_vm_firewall_alias"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vms/{vm_id}/firewall/ipsets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_vm_firewall_ipsets"];
        put?: never;
        post: operations["create_vm_firewall_ipset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vms/{vm_id}/firewall/ipsets/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["delete_vm_firewall_ipset"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vms/{vm_id}/firewall/ipsets/{name}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_vm_firewall_ipset_members"];
        put?: never;
        post: operations["add_vm_firewall_ipset_member"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vms/{vm_id}/firewall/ipsets/{name}/members/{cidr}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["change_vm_firewall_ipset_member"];
        post?: never;
        delete: operations["remove_vm_firewall_ipset_member"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vms/{vm_id}/firewall/log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["read_vm_firewall_log"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vms/{vm_id}/firewall/log/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["follow_vm_firewall_log"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vms/{vm_id}/firewall/options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_vm_firewall_options"];
        put: operations["change_vm_firewall_options"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vms/{vm_id}/firewall/refs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_vm_firewall_refs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vms/{vm_id}/firewall/rules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_vm_firewall_rules"];
        put?: never;
        post: operations["create_vm_firewall_rule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vms/{vm_id}/firewall/rules/{pos}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["change_vm_firewall_rule"];
        post?: never;
        delete: operations["delete_vm_firewall_rule"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vms/{vm_id}/firewall/rules/{pos}/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["move_vm_firewall_rule"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vms/{vm_id}/migrate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["migrate_vm"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vms/{vm_id}/migrate/preflight": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["check_vm_migration"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vms/{vm_id}/network": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_vm_nics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vms/{vm_id}/network/{iface}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put: operations["change_vm_nic"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vms/{vm_id}/options": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_vm_options"];
        put: operations["change_vm_options"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vms/{vm_id}/snapshots": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["list_vm_snapshots"];
        put?: never;
        post: operations["create_vm_snapshot"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vms/{vm_id}/snapshots/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete: operations["delete_vm_snapshot"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vms/{vm_id}/snapshots/{name}/rollback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["rollback_vm_snapshot"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/vms/{vm_id}/{action}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["act_on_vm"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/meta/update": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["get_meta_update"];
        put?: never;
        post: operations["request_meta_update"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        AcceptCatalogLossRequest: {
            digest: string;
        };
        AcknowledgeAlertRequest: {
            note?: string | null;
        };
        ActOnAppRequest: {
            confirm?: string | null;
        };
        ActOnGuestsRequest: {
            /** @enum {string} */
            action: "start" | "stop" | "shutdown" | "restart" | "pause" | "resume" | "reset";
            targets: components["schemas"]["GuestNamedTarget"][];
            confirm?: string | null;
        };
        ActOnVmRequest: {
            confirm?: string | null;
        };
        AddPasskeyRequest: {
            name: string;
            ceremony: string;
            credential: {
                [key: string]: unknown;
            };
        };
        AdoptAppsRequest: {
            items: components["schemas"]["AppAdoptItem"][];
        };
        Alert: {
            id: number;
            rule_id: number | null;
            rule: string;
            kind: string;
            /** @enum {string} */
            severity: "critical" | "warning" | "info";
            /** @enum {string} */
            state: "open" | "resolved";
            target: components["schemas"]["AlertTarget"];
            team_id: number | null;
            host_id: number | null;
            message: string;
            remedy: string;
            labels: unknown;
            raised_at: string;
            acknowledged_at: string | null;
            acknowledged_by: components["schemas"]["AlertPerson"] | null;
            ack_note: string;
            silenced_until: string | null;
            silenced_by: components["schemas"]["AlertPerson"] | null;
            silence_note: string;
            cause_id: number | null;
            window_id: number | null;
            folded: number;
            resolved_at: string | null;
            resolved_by: components["schemas"]["AlertPerson"] | null;
            resolution: string;
        };
        AlertDetail: {
            id: number;
            rule_id: number | null;
            rule: string;
            kind: string;
            /** @enum {string} */
            severity: "critical" | "warning" | "info";
            /** @enum {string} */
            state: "open" | "resolved";
            target: components["schemas"]["AlertTarget"];
            team_id: number | null;
            host_id: number | null;
            message: string;
            remedy: string;
            labels: unknown;
            raised_at: string;
            acknowledged_at: string | null;
            acknowledged_by: components["schemas"]["AlertPerson"] | null;
            ack_note: string;
            silenced_until: string | null;
            silenced_by: components["schemas"]["AlertPerson"] | null;
            silence_note: string;
            cause_id: number | null;
            window_id: number | null;
            folded: number;
            resolved_at: string | null;
            resolved_by: components["schemas"]["AlertPerson"] | null;
            resolution: string;
            why: components["schemas"]["AlertWhy"];
            history: components["schemas"]["AlertEvent"][];
            earlier: components["schemas"]["AlertEarlier"][];
        };
        AlertEarlier: {
            id: number;
            raised_at: string;
            resolved_at: string | null;
        };
        AlertEvent: {
            at: string;
            /** @enum {string} */
            what: "raised" | "acknowledged" | "silenced" | "resolved";
            by: components["schemas"]["AlertPerson"] | null;
            text: string;
            until: string | null;
        };
        AlertKindInfo: {
            kind: string;
            summary: string;
            unit: ("percent" | "bytes_per_second" | "days" | "minutes" | "seconds") | null;
            below: boolean;
            most: number | null;
            targets: string[];
        };
        AlertMuteScope: {
            team_id?: number | null;
            host_id?: number | null;
            tags?: string[] | null;
        };
        AlertPerson: {
            id: number | null;
            email: string;
        };
        AlertRule: {
            id: number;
            key: string | null;
            name: string;
            description: string;
            kind: string;
            on: components["schemas"]["AlertScope"];
            threshold: number | null;
            clear_level: number | null;
            unit: ("percent" | "bytes_per_second" | "days" | "minutes" | "seconds") | null;
            for_s: number;
            clear_for_s: number;
            /** @enum {string} */
            severity: "critical" | "warning" | "info";
            labels: unknown;
            enabled: boolean;
            seeded: boolean;
            open: number;
            created_at: string;
            updated_at: string;
        };
        AlertRuleScope: {
            team_id?: number | null;
            host_id?: number | null;
            kinds?: string[] | null;
            tags?: string[] | null;
            targets?: string[] | null;
        };
        AlertSample: {
            at: string;
            value: number;
        };
        AlertScope: {
            team_id: number | null;
            host_id: number | null;
            kinds: string[];
            tags: string[];
            targets: string[];
        };
        AlertTarget: {
            kind: string;
            id: number;
            name: string;
            node: string;
        };
        AlertWhy: {
            threshold: number | null;
            clear_level: number | null;
            unit: ("percent" | "bytes_per_second" | "days" | "minutes" | "seconds") | null;
            for_s: number;
            clear_for_s: number;
            value: number | null;
            samples: components["schemas"]["AlertSample"][];
            since: string | null;
            ends_at: string | null;
            job_id: number | null;
        };
        AlertWindow: {
            id: number;
            name: string;
            enabled: boolean;
            starts_at: string | null;
            ends_at: string | null;
            cron: string | null;
            timezone: string;
            duration_s: number | null;
            on: components["schemas"]["AlertWindowScope"];
            open: boolean;
            created_at: string;
            updated_at: string;
        };
        AlertWindowScope: {
            team_id: number | null;
            host_id: number | null;
            tags: string[];
        };
        App: {
            id: number;
            name: string;
            slug: string | null;
            vmid: number | null;
            guest_ref: string;
            /** @enum {string} */
            status: "running" | "stopped" | "paused" | "suspended" | "unknown" | "pending" | "missing";
            missing_since: string | null;
            job_id: number | null;
            present: boolean;
            host_id: number | null;
            host: string | null;
            cluster: string | null;
            node: string | null;
            guest_name: string | null;
            lock: string;
            tags: string[];
            cpu: number | null;
            cpus: number | null;
            memory_bytes: number | null;
            memory_total_bytes: number | null;
            disk_bytes: number | null;
            disk_total_bytes: number | null;
            net_in_bytes: number | null;
            net_out_bytes: number | null;
            uptime_s: number | null;
            web_port: number | null;
            web_path: string | null;
            web_protocol: ("http" | "https") | null;
            is_self: boolean;
            seen_at: string | null;
            figures_at: string | null;
            addresses: string[] | null;
            addresses_at: string | null;
            adopted_at: string;
        };
        AppAdoptItem: {
            host_id: number;
            vmid?: number;
            guest_ref?: string;
            name?: string | null;
            web_port?: number | null;
            web_path?: string | null;
            web_protocol?: ("http" | "https") | null;
            slug?: string | null;
        };
        AppPort: {
            /** @enum {string} */
            protocol: "tcp" | "udp";
            address: string;
            port: number;
            local: boolean;
            program: string | null;
            user_id: number | null;
        };
        AppReconfigured: {
            id: number;
            name: string;
            slug: string | null;
            vmid: number | null;
            guest_ref: string;
            /** @enum {string} */
            status: "running" | "stopped" | "paused" | "suspended" | "unknown" | "pending" | "missing";
            missing_since: string | null;
            job_id: number | null;
            present: boolean;
            host_id: number | null;
            host: string | null;
            cluster: string | null;
            node: string | null;
            guest_name: string | null;
            lock: string;
            tags: string[];
            cpu: number | null;
            cpus: number | null;
            memory_bytes: number | null;
            memory_total_bytes: number | null;
            disk_bytes: number | null;
            disk_total_bytes: number | null;
            net_in_bytes: number | null;
            net_out_bytes: number | null;
            uptime_s: number | null;
            web_port: number | null;
            web_path: string | null;
            web_protocol: ("http" | "https") | null;
            is_self: boolean;
            seen_at: string | null;
            figures_at: string | null;
            addresses: string[] | null;
            addresses_at: string | null;
            adopted_at: string;
            config: components["schemas"]["GuestConfig"] | null;
        };
        AppUninstalled: {
            removed: boolean;
            ct_kept: boolean;
            job: components["schemas"]["JobView"] | null;
        };
        AppWebURL: {
            url: string | null;
            decided_by: ("operator" | "script" | "catalog") | null;
            scheme_by: ("operator" | "tls_hello" | "script" | "catalog" | "default") | null;
            reachable: boolean;
            detail: string | null;
        };
        ApplyNetworkRequest: {
            confirm?: string | null;
            undo_after_s?: number | null;
        };
        AppscriptAll: {
            jobs: components["schemas"]["JobView"][];
            skipped: components["schemas"]["AppscriptSkipped"][];
        };
        AppscriptConsent: {
            text: string;
            version: number;
            given: boolean;
            by: string | null;
            at: string | null;
        };
        AppscriptDiff: {
            own: components["schemas"]["CatalogDiffCount"];
            engine: components["schemas"]["CatalogDiffCount"];
            overlay: components["schemas"]["CatalogDiffCount"];
            files: components["schemas"]["BundleChange"][];
        };
        AppscriptDrift: {
            drifted: boolean;
            version: number;
            sha256: string;
            added: number;
            removed: number;
            diff: string | null;
        };
        AppscriptLast: {
            job_id: number;
            /** @enum {string} */
            status: "queued" | "running" | "succeeded" | "failed" | "canceled" | "unknown";
            outcome: ("updated" | "nothing_to_do" | "rolled_back" | "needs_human") | null;
            text: string;
            version_before: string | null;
            version_after: string | null;
            exit_code: number | null;
            snapshot: string | null;
            ended_at: string | null;
        };
        AppscriptScript: {
            version: number;
            /** @enum {string} */
            source: "upstream" | "edited";
            /** @enum {string} */
            reason: "install" | "edit" | "revert" | "update";
            sha256: string;
            size: number;
            path: string | null;
            bundle: string | null;
            commit: string | null;
            pin: string | null;
            job_id: number | null;
            created_by: string | null;
            created_at: string;
            current: boolean;
            content: string | null;
            drift: components["schemas"]["AppscriptDrift"] | null;
        };
        AppscriptSkipped: {
            app_id: number;
            app: string;
            reason: string;
            detail: string;
        };
        AppscriptState: {
            available: boolean;
            reason: ("edited" | "no_entry" | "no_commit" | "current") | null;
            detail: string | null;
            commit: string | null;
            catalog_commit: string | null;
            sum: string | null;
            pin: string | null;
            diff: components["schemas"]["AppscriptDiff"] | null;
            consent: components["schemas"]["AppscriptConsent"] | null;
            last: components["schemas"]["AppscriptLast"] | null;
        };
        AppscriptUpdate: {
            app_id: number;
            app: string;
            available: boolean;
            reason: ("edited" | "no_entry" | "no_commit" | "no_script" | "current") | null;
            detail: string | null;
            script: number | null;
            commit: string | null;
            catalog_commit: string | null;
            version: string | null;
            outcome: ("updated" | "nothing_to_do" | "rolled_back" | "needs_human") | null;
        };
        AppscriptVersion: {
            version: number;
            /** @enum {string} */
            source: "upstream" | "edited";
            /** @enum {string} */
            reason: "install" | "edit" | "revert" | "update";
            sha256: string;
            size: number;
            path: string | null;
            bundle: string | null;
            commit: string | null;
            pin: string | null;
            job_id: number | null;
            created_by: string | null;
            created_at: string;
        };
        AttachStorageRequest: {
            host_id: number;
            storage: string;
            type: string;
            config?: {
                [key: string]: unknown;
            };
        };
        AuditBreak: {
            /** @enum {string} */
            kind: "altered" | "removed" | "reordered" | "inserted" | "head" | "anchor";
            seq: number | null;
            id: number | null;
            text: string;
        };
        AuditClearIn: {
            before?: string | null;
            confirm?: string | null;
        };
        AuditCleared: {
            deleted: number;
        };
        AuditRow: {
            id: number;
            at: string;
            /** @enum {string} */
            actor_type: "user" | "api_key" | "system" | "anonymous";
            actor_id: number | null;
            actor_email: string | null;
            action: string;
            target: components["schemas"]["AuditTarget"] | null;
            /** @enum {string} */
            result: "ok" | "refused" | "failed";
            error: string | null;
            address: string | null;
            request_id: string | null;
            job_id: number | null;
            host_id: number | null;
            details: unknown;
        };
        AuditTarget: {
            kind: string;
            id: string | null;
            name: string | null;
        };
        AuditVerification: {
            at: string;
            good: boolean;
            verified: number;
            cleared: number;
            unsealed: number;
            seq: number;
            hash: string;
            break: components["schemas"]["AuditBreak"] | null;
        };
        AuthAddPasskeyOutput: {
            passkey: components["schemas"]["AuthPasskey"];
            recovery_codes: string[];
        };
        AuthBeginPasskeyOutput: {
            ceremony: string;
            options: {
                [key: string]: unknown;
            };
        };
        AuthChanged: {
            sessions_revoked: number;
            keys_revoked: number;
            keys_valid: number;
        };
        AuthEnrolment: {
            secret: string;
            otpauth_uri: string;
            qr_svg: string;
            recovery_codes: string[];
        };
        AuthLogin: {
            at: string;
            /** @enum {string} */
            outcome: "ok" | "refused" | "failed";
            error: string | null;
            method: ("password" | "totp" | "recovery_code" | "provider" | "passkey") | null;
            address: string | null;
            user_agent: string | null;
            new_place: boolean;
        };
        AuthMe: {
            user: components["schemas"]["AuthUser"];
            role: ("viewer" | "operator" | "admin" | "owner") | null;
            roles: components["schemas"]["AuthMembership"][];
            recovery_codes_left: number | null;
            session: components["schemas"]["AuthSession"] | null;
        };
        AuthMembership: {
            team_id: number;
            team: string;
            /** @enum {string} */
            role: "viewer" | "operator" | "admin" | "owner";
        };
        AuthPasskey: {
            id: number;
            name: string;
            transports: string[];
            synced: boolean;
            created_at: string;
            last_used_at: string | null;
        };
        AuthPreferences: {
            value: {
                [key: string]: unknown;
            };
            revision: number;
            changed_at: string | null;
        };
        AuthProof: {
            password?: string;
        };
        AuthSession: {
            id: number;
            current: boolean;
            address: string;
            user_agent: string;
            created_at: string;
            last_seen_at: string;
            expires_at: string;
            /** @enum {string} */
            method: "password" | "provider" | "passkey";
            provider: string | null;
            second_factor: ("totp" | "recovery_code" | "provider" | "passkey") | null;
        };
        AuthUser: {
            id: number;
            email: string;
            display_name: string | null;
            totp_enabled: boolean;
            passkeys: number;
            has_password: boolean;
        };
        Backup: {
            id: number;
            host_id: number;
            storage: string;
            /** @enum {string} */
            kind: "vm" | "container";
            vmid: number | null;
            guest_ref: string;
            vm_id: number | null;
            app_id: number | null;
            name: string;
            taken_at: string | null;
            size_bytes: number | null;
            format: string;
            protected: boolean;
            encrypted: boolean;
            notes: string;
            verified: ("ok" | "failed") | null;
            as_of: string;
        };
        BackupCoverage: {
            guest_id: number;
            /** @enum {string} */
            kind: "vm" | "container";
            vm_id: number | null;
            app_id: number | null;
            name: string;
            host_id: number;
            host: string;
            guest_ref: string;
            backup_id: number | null;
            backup_at: string | null;
            storage: string | null;
            age_s: number | null;
            max_age_days: number | null;
            /** @enum {string} */
            state: "covered" | "stale" | "exempt" | "unknown";
        };
        BackupStorage: {
            host_id: number;
            host: string;
            cluster: string;
            node: string | null;
            name: string;
            backups: number;
            as_of: string | null;
            error: string | null;
            detail: string;
        };
        BeginPasskeyLogInRequest: {
            pending?: string;
        };
        BeginProviderLogInRequest: {
            return_to?: string;
        };
        BeginProviderLogInResult: {
            url: string;
        };
        BundleChange: {
            path: string;
            /** @enum {string} */
            class: "own" | "engine" | "overlay";
            /** @enum {string} */
            change: "added" | "removed" | "changed";
            added: number;
            removed: number;
            diff: string | null;
        };
        CatalogBlocker: {
            code: string;
            text: string;
        };
        CatalogCategory: {
            key: string;
            name: string;
            entries: number;
        };
        CatalogConsent: {
            text: string;
            version: number;
            given: boolean;
            by: string | null;
            at: string | null;
        };
        CatalogDefaults: {
            cores: number;
            memory_mb: number;
            disk_gb: number;
            os: string;
            os_version: string;
            privileged: boolean;
        };
        CatalogDiffCount: {
            files: number;
            added: number;
            removed: number;
        };
        CatalogEntry: {
            slug: string;
            name: string;
            source: string;
            /** @enum {string} */
            entry_type: "ct" | "vm" | "addon" | "node" | "other";
            category: string | null;
            categories: string[];
            summary: string;
            tags: string[];
            created_at: string | null;
            updated_at: string | null;
            installable: boolean;
            variant_of: string | null;
            has_icon: boolean;
            popularity: number | null;
            description: string;
            authors: string[];
            licence: string;
            website: string;
            docs: string;
            origins: string[];
            web: components["schemas"]["CatalogWeb"] | null;
            defaults: components["schemas"]["CatalogDefaults"];
            config_path: string;
            credentials: string;
            notes: components["schemas"]["CatalogNote"][];
            updatable: boolean;
            disabled: string | null;
            removed: string | null;
            successor: string | null;
            variants: string[];
            architectures: string[];
            prompts: number;
            needs_yes: boolean;
            privileges: components["schemas"]["CatalogPrivilege"][];
            overrides: components["schemas"]["CatalogOption"][];
            commit: string | null;
            pin: string | null;
            digest: string;
        };
        CatalogFailure: {
            reason: string;
            text: string;
            at: string;
            count: number;
        };
        CatalogFetch: {
            file: string;
            line: number;
            text: string;
        };
        CatalogFile: {
            path: string;
            /** @enum {string} */
            class: "own" | "engine" | "overlay";
            executable: boolean;
            size: number;
            sha256: string;
            origin_sha256: string | null;
            rewritten: number;
            text: string | null;
            cut: boolean;
        };
        CatalogHeld: {
            at: string;
            pin: string;
            of: number;
            removed: string[];
            digest: string;
        };
        CatalogItem: {
            slug: string;
            name: string;
            source: string;
            /** @enum {string} */
            entry_type: "ct" | "vm" | "addon" | "node" | "other";
            category: string | null;
            categories: string[];
            summary: string;
            tags: string[];
            created_at: string | null;
            updated_at: string | null;
            installable: boolean;
            variant_of: string | null;
            has_icon: boolean;
            popularity: number | null;
        };
        CatalogNote: {
            /** @enum {string} */
            level: "info" | "warning";
            text: string;
        };
        CatalogOption: {
            key: string;
            /** @enum {string} */
            type: "line" | "text" | "whole" | "switch" | "choice" | "url" | "folder";
            values: string[];
            default_text: string;
            description: string;
            required: boolean;
            secret: boolean;
            min: number | null;
            max: number | null;
            set: boolean;
            value: string | null;
        };
        CatalogPlan: {
            slug: string;
            name: string;
            source: string;
            /** @enum {string} */
            purpose: "install" | "update";
            host: components["schemas"]["CatalogPlanHost"];
            sum: string | null;
            pin: string | null;
            commit: string | null;
            size: number;
            files: components["schemas"]["CatalogPlanFile"][];
            privileges: components["schemas"]["CatalogPrivilege"][];
            unpinned: components["schemas"]["CatalogFetch"][];
            unpinned_text: string;
            notes: components["schemas"]["CatalogNote"][];
            prompts: number;
            needs_yes: boolean;
            overrides: components["schemas"]["CatalogOption"][];
            defaults: components["schemas"]["CatalogDefaults"];
            storages: components["schemas"]["CatalogPlanStorage"][];
            bridges: string[];
            blockers: components["schemas"]["CatalogBlocker"][];
            warnings: string[];
            diff: components["schemas"]["CatalogPlanDiff"] | null;
            consent: components["schemas"]["CatalogConsent"];
        };
        CatalogPlanDiff: {
            sum: string;
            pin: string;
            consented_at: string;
            own: components["schemas"]["CatalogDiffCount"];
            engine: components["schemas"]["CatalogDiffCount"];
            overlay: components["schemas"]["CatalogDiffCount"];
            files: components["schemas"]["BundleChange"][];
        };
        CatalogPlanFile: {
            path: string;
            /** @enum {string} */
            class: "own" | "engine" | "overlay";
            executable: boolean;
            size: number;
            sha256: string;
            origin_sha256: string | null;
            rewritten: number;
        };
        CatalogPlanHost: {
            id: number;
            name: string;
            node: string;
        };
        CatalogPlanStorage: {
            name: string;
            type: string;
            shared: boolean;
            status: string;
            content: string[];
            free: number | null;
            total: number | null;
        };
        CatalogPrivilege: {
            key: string;
            text: string;
        };
        CatalogSource: {
            name: string;
            title: string;
            version: string | null;
            installed: boolean;
            enabled: boolean;
            namespace: string;
            trust: string | null;
            trust_digest: string | null;
            trust_accepted: boolean;
            trusted_by: string | null;
            trusted_at: string | null;
            options: components["schemas"]["CatalogOption"][];
            allow_private: boolean;
            popularity: boolean;
            entries: number;
            pin: string | null;
            synced_at: string | null;
            changed_at: string | null;
            failure: components["schemas"]["CatalogFailure"] | null;
            held: components["schemas"]["CatalogHeld"] | null;
        };
        CatalogSourceStatus: {
            name: string;
            title: string;
            entries: number;
            pin: string | null;
            stale: boolean;
            age_s: number | null;
            synced_at: string | null;
            failure: components["schemas"]["CatalogFailure"] | null;
            held: components["schemas"]["CatalogHeld"] | null;
        };
        CatalogStarted: {
            job: components["schemas"]["JobView"];
        };
        CatalogStatus: {
            stale: boolean;
            age_s: number | null;
            synced_at: string | null;
            stale_after_s: number;
            entries: number;
            refreshing: boolean;
            categories: components["schemas"]["CatalogCategory"][];
            sources: components["schemas"]["CatalogSourceStatus"][];
        };
        CatalogWeb: {
            /** @enum {string} */
            protocol: "http" | "https";
            port: number;
            path: string;
        };
        ChangeFirewallDraftRequest: {
            version: number;
            name?: string;
            changes: components["schemas"]["DraftChange"][];
        };
        ChangeFirewallTemplateRequest: {
            name: string;
            description?: string;
            shared?: boolean;
            content: components["schemas"]["DraftContent"];
            version: number;
        };
        ChangePasswordRequest: {
            current: string;
            new: string;
            /** @default false */
            revoke_keys: boolean;
        };
        ChangeVmNicRequest: {
            bridge?: string | null;
            tag?: number | null;
            rate?: number | null;
            mtu?: number | null;
            firewall?: boolean | null;
            link_down?: boolean | null;
            ip?: string | null;
            gw?: string | null;
            ip6?: string | null;
            gw6?: string | null;
            digest?: string;
        };
        Channel: {
            id: number;
            team_id: number;
            name: string;
            /** @enum {string} */
            kind: "webhook" | "smtp" | "ntfy" | "gotify" | "discord" | "slack" | "telegram" | "matrix" | "teams" | "pushover";
            enabled: boolean;
            settings: components["schemas"]["ChannelSettings"];
            secrets_set: string[];
            allow_private: boolean;
            account_mail: boolean;
            hourly_cap: number;
            quiet_hours: components["schemas"]["ChannelQuiet"] | null;
            routes: components["schemas"]["ChannelRoute"][];
            audit_actions: string[];
            queue: components["schemas"]["ChannelQueue"];
            created_at: string;
            updated_at: string;
        };
        ChannelDelivery: {
            id: number;
            channel_id: number;
            channel: string;
            team_id: number;
            message_id: string;
            /** @enum {string} */
            kind: "alert" | "job_failed" | "backup_report" | "new_login" | "update_done" | "update_rolled_back" | "audit" | "test" | "digest";
            incident: string | null;
            /** @enum {string} */
            event: "open" | "resolved" | "told";
            /** @enum {string} */
            severity: "info" | "warning" | "critical";
            title: string;
            /** @enum {string} */
            state: "pending" | "held" | "folded" | "sent" | "failed" | "skipped";
            held_for: ("quiet" | "cap") | null;
            held_until: string | null;
            digest_id: number | null;
            attempts: number;
            created_at: string;
            tried_at: string | null;
            done_at: string | null;
            error: string | null;
        };
        ChannelQueue: {
            pending: number;
            held: number;
            failures: number;
            next_try_at: string | null;
            last_ok_at: string | null;
            last_error: string | null;
            last_error_at: string | null;
            audit_skipped: number;
        };
        ChannelQuiet: {
            from: string;
            to: string;
            timezone: string;
            critical_passes: boolean;
        };
        ChannelRoute: {
            /** @enum {string} */
            severity: "info" | "warning" | "critical";
            kinds?: ("alert" | "job_failed" | "backup_report" | "new_login" | "update_done" | "update_rolled_back")[];
            teams?: number[];
            tags?: string[];
            rules?: string[];
        };
        ChannelSettings: {
            url?: string;
            server?: string;
            /** @enum {string} */
            security?: "starttls" | "tls" | "none";
            username?: string;
            from?: string;
            to?: string[];
            topic?: string;
            chat?: string;
            room?: string;
            device?: string;
            tls_fingerprint?: string;
        };
        ChannelTrial: {
            id: number;
            channel_id: number;
            channel: string;
            team_id: number;
            message_id: string;
            /** @enum {string} */
            kind: "alert" | "job_failed" | "backup_report" | "new_login" | "update_done" | "update_rolled_back" | "audit" | "test" | "digest";
            incident: string | null;
            /** @enum {string} */
            event: "open" | "resolved" | "told";
            /** @enum {string} */
            severity: "info" | "warning" | "critical";
            title: string;
            /** @enum {string} */
            state: "pending" | "held" | "folded" | "sent" | "failed" | "skipped";
            held_for: ("quiet" | "cap") | null;
            held_until: string | null;
            digest_id: number | null;
            attempts: number;
            created_at: string;
            tried_at: string | null;
            done_at: string | null;
            error: string | null;
            notice: string | null;
        };
        CheckVmMigrationRequest: {
            target_host_id: number;
            node?: string | null;
            storage?: string | null;
            strategy?: ("cluster" | "shared_storage" | "transfer") | null;
        };
        CloneVmRequest: {
            full?: boolean;
            name?: string | null;
            newid?: number | null;
            storage?: string | null;
            target?: string | null;
        };
        ClusterActivity: {
            /** @enum {string} */
            kind: "job" | "alert" | "audit";
            at: string;
            id: number;
            title: string;
            text: string;
            status: ("queued" | "running" | "succeeded" | "failed" | "canceled" | "unknown") | null;
            severity: ("info" | "warning" | "critical") | null;
            result: ("ok" | "refused" | "failed") | null;
            target: components["schemas"]["ClusterTarget"] | null;
            host_id: number | null;
            actor: string | null;
        };
        ClusterHostState: {
            id: number;
            name: string;
            team_id: number;
            cluster_id: number | null;
            /** @enum {string} */
            status: "pending" | "online" | "unreachable";
            ok_at: string | null;
            version: string | null;
            version_at: string | null;
            certificate_ends_at: string | null;
            tokens_end_at: string | null;
            requests_per_minute: number | null;
            busy_s_per_minute: number | null;
            requests_per_minute_1h: number | null;
            busy_s_per_minute_1h: number | null;
        };
        ClusterMember: {
            node: string;
            host_id: number | null;
            /** @enum {string} */
            status: "online" | "offline" | "unknown";
            status_since: string | null;
            version: string | null;
            certificate_ends_at: string | null;
            subscription: string | null;
            subscription_due: string | null;
            level: string | null;
            read_at: string | null;
        };
        ClusterNode: {
            node: string;
            host_id: number;
            host: string;
            cluster_id: number;
            cluster: string;
            team_id: number;
            /** @enum {string} */
            status: "online" | "offline" | "unknown";
            address: string;
            is_entry: boolean;
            cpu: number | null;
            cpus: number | null;
            memory_bytes: number | null;
            memory_total_bytes: number | null;
            disk_bytes: number | null;
            disk_total_bytes: number | null;
            uptime_s: number | null;
            apps: number;
            vms: number;
            seen_at: string;
            figures_at: string | null;
        };
        ClusterProblem: {
            /** @enum {string} */
            kind: "host_away" | "quorum_lost" | "node_away" | "token_ending" | "certificate_ending" | "token_privileges" | "versions_differ" | "subscription_ended" | "job_failed" | "backup_never" | "backup_old" | "backup_unlisted" | "app_missing" | "detail_unknown";
            /** @enum {string} */
            severity: "critical" | "warning" | "info";
            target: components["schemas"]["ClusterSubject"];
            host_id: number | null;
            host: string | null;
            cluster_id: number | null;
            job_id: number | null;
            since: string | null;
            ends_at: string | null;
            text: string;
            remedy: string;
        };
        ClusterProblemCount: {
            kind: string;
            /** @enum {string} */
            severity: "critical" | "warning" | "info";
            count: number;
        };
        ClusterRates: {
            requests_per_minute: number | null;
            busy_s_per_minute: number | null;
            requests_per_minute_1h: number | null;
            busy_s_per_minute_1h: number | null;
        };
        ClusterState: {
            id: number;
            name: string;
            team_id: number;
            quorate: boolean | null;
            quorate_since: string | null;
            quorum_as_of: string | null;
            seen_at: string | null;
            nodes: number;
            versions_differ: boolean;
            versions: string[];
            members: components["schemas"]["ClusterMember"][];
            cpus_used: number;
            cpus: number;
            memory_bytes: number;
            memory_total_bytes: number;
            disk_bytes: number;
            disk_total_bytes: number;
            requests_per_minute: number | null;
            busy_s_per_minute: number | null;
            requests_per_minute_1h: number | null;
            busy_s_per_minute_1h: number | null;
        };
        ClusterSubject: {
            kind: string;
            id: number | null;
            name: string;
        };
        ClusterSummary: {
            hosts: number;
            hosts_online: number;
            clusters: number;
            nodes: number;
            nodes_online: number;
            vms: number;
            vms_running: number;
            containers: number;
            containers_running: number;
            apps: number;
            templates: number;
            unknown: number;
            cpus_used: number;
            cpus: number;
            memory_bytes: number;
            memory_total_bytes: number;
            disk_bytes: number;
            disk_total_bytes: number;
            problems: components["schemas"]["ClusterProblem"][];
            problem_counts: components["schemas"]["ClusterProblemCount"][];
            load: components["schemas"]["ClusterRates"];
            by_cluster: components["schemas"]["ClusterState"][];
            by_host: components["schemas"]["ClusterHostState"][];
        };
        ClusterTarget: {
            kind: string;
            id: string | null;
            name: string | null;
        };
        CommitFirewallDraftRequest: {
            window_seconds?: number | null;
            confirm?: string | null;
        };
        CompleteLogInRequest: {
            pending: string;
            code: string;
        };
        CompletePasskeyLogInRequest: {
            pending?: string;
            ceremony: string;
            credential: {
                [key: string]: unknown;
            };
        };
        CompleteProviderLogInRequest: {
            state: string;
            code?: string;
            error?: string;
            iss?: string;
        };
        CompleteProviderLogInResult: {
            user?: components["schemas"]["AuthUser"];
            totp_required?: boolean;
            pending?: string;
            factors?: ("totp" | "passkey")[];
            return_to: string;
        };
        CompleteSetupRequest: {
            setup_token: string;
            email: string;
            password: string;
            display_name?: string | null;
        };
        CompleteSetupResult: {
            user: components["schemas"]["SetupFirstOwner"];
        };
        ConfigDiskSize: {
            size_gb: number;
        };
        ConfirmTotpRequest: {
            code: string;
        };
        ConsoleRecording: {
            id: number;
            /** @enum {string} */
            target_kind: "vm" | "app" | "host";
            target_id: number;
            target_name: string;
            host_id: number | null;
            node: string;
            team_id: number;
            user_id: number | null;
            user_email: string;
            address: string;
            /** @enum {string} */
            status: "recording" | "ended" | "lost";
            started_at: string;
            ended_at: string | null;
            output_bytes: number;
            stored_bytes: number;
            truncated: boolean;
        };
        ConsoleTicket: {
            ticket: string;
            path: string;
            /** @enum {string} */
            kind: "terminal" | "graphical";
            expires_at: string;
            password: string | null;
            recorded: boolean;
        };
        CreateAlertRuleRequest: {
            name: string;
            description?: string | null;
            kind: string;
            on?: components["schemas"]["AlertRuleScope"] | null;
            threshold?: number | null;
            clear_level?: number | null;
            /** @default 0 */
            for_s: number;
            /** @default 0 */
            clear_for_s: number;
            /**
             * @default warning
             * @enum {string}
             */
            severity: "critical" | "warning" | "info";
            labels?: {
                [key: string]: string;
            } | null;
            /** @default true */
            enabled: boolean;
        };
        CreateApiKeyRequest: {
            name: string;
            expires_at?: string | null;
            scopes?: string[] | null;
        };
        CreateBridgeRequest: {
            host_id: number;
            node: string;
            iface: string;
            /**
             * @default bridge
             * @enum {string}
             */
            type: "bridge" | "bond" | "vlan";
            config?: {
                [key: string]: unknown;
            };
        };
        CreateFirewallDraftOfTemplateRequest: {
            host_id: number;
            name?: string;
            scopes: components["schemas"]["DraftOn"][];
            replace?: boolean;
            pos?: number;
        };
        CreateFirewallDraftRequest: {
            host_id: number;
            name: string;
            changes: components["schemas"]["DraftChange"][];
        };
        CreateFirewallTemplateRequest: {
            name: string;
            description?: string;
            shared?: boolean;
            content: components["schemas"]["DraftContent"];
            /** @default 1 */
            team_id: number;
        };
        CreateHostRequest: {
            driver?: string;
            credential_form?: string;
            token_id?: string;
            token_secret?: string;
            paste?: string;
            tls_fingerprint?: string | null;
            /** @default true */
            verify_tls: boolean;
            address: string;
            name: string;
            ssh_consent?: boolean;
            ssh_enroll?: boolean;
            ssh_port?: number;
        };
        CreateIdentityProviderRequest: {
            name: string;
            issuer: string;
            client_id: string;
            client_secret?: string;
            scopes?: string[];
            groups_claim?: string;
            rules?: components["schemas"]["SsoRule"][];
            /** @enum {string} */
            accounts?: "create" | "invited";
            trust_email?: boolean;
            allow_private?: boolean;
            tls_fingerprint?: string;
            enabled?: boolean;
        };
        CreateMaintenanceWindowRequest: {
            name: string;
            starts_at?: string;
            ends_at?: string;
            cron?: string;
            duration_s?: number;
            /** @default UTC */
            timezone: string;
            on?: components["schemas"]["AlertMuteScope"] | null;
            /** @default true */
            enabled: boolean;
        };
        CreateNotificationChannelRequest: {
            name: string;
            /** @default 1 */
            team_id: number;
            /** @enum {string} */
            kind: "webhook" | "smtp" | "ntfy" | "gotify" | "discord" | "slack" | "telegram" | "matrix" | "teams" | "pushover";
            /** @default true */
            enabled: boolean;
            settings?: components["schemas"]["ChannelSettings"];
            secrets?: components["schemas"]["NotificationSecrets"];
            allow_private?: boolean;
            account_mail?: boolean;
            /** @default 60 */
            hourly_cap: number;
            quiet_hours?: components["schemas"]["ChannelQuiet"] | null;
            routes?: components["schemas"]["ChannelRoute"][];
            audit_actions?: string[];
        };
        CreateScheduleRequest: {
            name: string;
            cron: string;
            /** @default UTC */
            timezone: string;
            job_kind: string;
            params?: {
                [key: string]: unknown;
            } | null;
            /** @default true */
            enabled: boolean;
        };
        CreateTeamRequest: {
            name: string;
            description?: string | null;
            slug?: string | null;
        };
        CreateUserRequest: {
            email: string;
            password: string;
            display_name?: string | null;
            role?: ("viewer" | "operator" | "admin" | "owner") | null;
        };
        CreateVmRequest: {
            host_id: number;
            name: string;
            /** @default vmbr0 */
            bridge: string;
            /** @default 2 */
            cores: number;
            /** @default 32 */
            disk_gb: number;
            /** @default 2048 */
            memory_mb: number;
            /** @default l26 */
            ostype: string;
            start?: boolean;
            /** @default local-lvm */
            storage: string;
            iso?: string | null;
            node?: string | null;
            vlan_tag?: number | null;
            vmid?: number | null;
        };
        CreateVmSnapshotRequest: {
            name: string;
            description?: string | null;
            vmstate?: boolean;
        };
        DeleteBackupRequest: {
            confirm?: string | null;
        };
        DeleteStorageVolumeRequest: {
            confirm?: string | null;
        };
        DeleteVmRequest: {
            confirm?: string | null;
            purge?: boolean;
        };
        DetachStorageRequest: {
            confirm?: string | null;
        };
        DisableTotpRequest: {
            password: string;
        };
        DiscardInstallRequest: {
            confirm?: string | null;
        };
        DiscoveryGroup: {
            targets: string[];
            labels: {
                [key: string]: string;
            };
        };
        DownloadStorageContentRequest: {
            url: string;
            content: string;
            filename?: string | null;
            node?: string | null;
            checksum?: string | null;
            checksum_algorithm?: ("md5" | "sha1" | "sha224" | "sha256" | "sha384" | "sha512") | null;
            verify_tls?: boolean | null;
        };
        Draft: {
            id: number;
            name: string;
            host_id: number;
            cluster_id: number;
            /** @enum {string} */
            status: "open" | "committing" | "waiting" | "undoing" | "applied" | "undone" | "unknown";
            version: number;
            /** @enum {string} */
            role: "operator" | "admin";
            changes: components["schemas"]["DraftChange"][];
            scopes: components["schemas"]["DraftChanged"][];
            job_id: number | null;
            window_seconds: number | null;
            deadline: string | null;
            confirmed_by: string | null;
            outcome: string | null;
            created_by: string;
            created_at: string;
            updated_at: string;
        };
        DraftAlias: {
            name: string;
            cidr: string;
            comment?: string;
        };
        DraftChange: {
            scope: components["schemas"]["DraftOn"];
            /** @enum {string} */
            action: "create_rule" | "change_rule" | "delete_rule" | "move_rule" | "create_alias" | "change_alias" | "delete_alias" | "create_ipset" | "delete_ipset" | "add_member" | "change_member" | "remove_member" | "change_options" | "create_group" | "change_group" | "delete_group";
            pos?: number;
            to?: number;
            rule?: components["schemas"]["DraftRule"];
            name?: string;
            cidr?: string;
            comment?: string;
            members?: components["schemas"]["DraftMember"][];
            options?: {
                [key: string]: string;
            };
        };
        DraftChanged: {
            /** @enum {string} */
            kind: "cluster" | "node" | "vm" | "app" | "group";
            id: number | null;
            name: string;
            digest: string | null;
            before: string[];
            after: string[];
            diff: string[];
        };
        DraftContent: {
            rules: components["schemas"]["DraftRule"][];
            aliases?: components["schemas"]["DraftAlias"][];
            ipsets?: components["schemas"]["DraftSet"][];
            options?: {
                [key: string]: string;
            };
        };
        DraftMember: {
            cidr: string;
            nomatch?: boolean;
            comment?: string;
        };
        DraftOn: {
            /** @enum {string} */
            kind: "cluster" | "node" | "vm" | "app" | "group";
            id?: number;
            node?: string;
            group?: string;
        };
        DraftRule: {
            /** @enum {string} */
            type?: "in" | "out" | "forward" | "group";
            action?: string;
            enable?: number;
            macro?: string;
            iface?: string;
            source?: string;
            dest?: string;
            sport?: string;
            dport?: string;
            proto?: string;
            log?: string;
            icmp_type?: string;
            comment?: string;
        };
        DraftSet: {
            name: string;
            comment?: string;
            members?: components["schemas"]["DraftMember"][];
        };
        EditBridgeRequest: {
            config?: {
                [key: string]: unknown;
            };
        };
        EditStorageRequest: {
            config: {
                [key: string]: unknown;
            };
            digest?: string | null;
        };
        EnrolPeersRequest: {
            nodes: string[];
            tls_fingerprints?: {
                [key: string]: string;
            };
        };
        FetchStorageTemplateRequest: {
            template: string;
            node?: string | null;
        };
        FirewallAlias: {
            name: string;
            cidr: string;
            comment: string | null;
            digest: string | null;
        };
        FirewallAliasIn: {
            name: string;
            cidr: string;
            comment?: string | null;
            digest?: string | null;
        };
        FirewallAliasPatch: {
            cidr: string;
            comment?: string | null;
            rename?: string | null;
            digest?: string | null;
        };
        FirewallEnd: {
            app_id?: number;
            vm_id?: number;
            nic?: string;
            host_id?: number;
            node?: string;
            address?: string;
            outside?: boolean;
        };
        FirewallGroup: {
            group: string;
            comment: string | null;
            digest: string | null;
        };
        FirewallGroupIn: {
            group: string;
            comment?: string | null;
            digest?: string | null;
        };
        FirewallHop: {
            scope: components["schemas"]["FirewallShownScope"];
            nic: string | null;
            /** @enum {string} */
            direction: "in" | "out" | "forward";
            /** @enum {string} */
            verdict: "accept" | "drop" | "reject" | "unknown";
            by: components["schemas"]["FirewallStep"];
            steps: components["schemas"]["FirewallStep"][];
            omitted: number;
        };
        FirewallIPSet: {
            name: string;
            comment: string | null;
            digest: string | null;
        };
        FirewallIPSetMember: {
            cidr: string;
            nomatch: number;
            comment: string | null;
            digest: string | null;
        };
        FirewallIpSetIn: {
            name: string;
            comment?: string | null;
            digest?: string | null;
        };
        FirewallLogLine: {
            n: number;
            text: string;
            time: string | null;
            guest: string | null;
            scope: ("node" | "guest" | "group") | null;
            group: string | null;
            level: string | null;
            chain: string | null;
            direction: string | null;
            action: string | null;
            proto: string | null;
            source: string | null;
            dest: string | null;
            sport: string | null;
            dport: string | null;
            iface_in: string | null;
            iface_out: string | null;
        };
        FirewallMacro: {
            name: string;
            description: string | null;
        };
        FirewallMemberIn: {
            cidr: string;
            nomatch?: number | null;
            comment?: string | null;
            digest?: string | null;
        };
        FirewallMemberPatch: {
            nomatch?: number | null;
            comment?: string | null;
            digest?: string | null;
        };
        FirewallMoveIn: {
            moveto: number;
            digest?: string | null;
        };
        FirewallOptions: {
            enable: number | null;
            dhcp: number | null;
            ndp: number | null;
            radv: number | null;
            macfilter: number | null;
            ipfilter: number | null;
            policy_in: string | null;
            policy_out: string | null;
            policy_forward: string | null;
            log_level_in: string | null;
            log_level_out: string | null;
            log_level_forward: string | null;
            other: {
                [key: string]: string;
            };
            digest: string | null;
        };
        FirewallOptionsIn: {
            enable?: number | null;
            dhcp?: number | null;
            ndp?: number | null;
            radv?: number | null;
            macfilter?: number | null;
            ipfilter?: number | null;
            policy_in?: ("ACCEPT" | "REJECT" | "DROP") | null;
            policy_out?: ("ACCEPT" | "REJECT" | "DROP") | null;
            policy_forward?: ("ACCEPT" | "REJECT" | "DROP") | null;
            log_level_in?: string | null;
            log_level_out?: string | null;
            log_level_forward?: string | null;
            other?: {
                [key: string]: string | null;
            };
            digest?: string | null;
            delete?: string | null;
        };
        FirewallPorts: {
            proto: string;
            first: number;
            last: number;
        };
        FirewallReachRow: {
            from: components["schemas"]["FirewallShownEnd"];
            open: components["schemas"]["FirewallPorts"][];
            ping: boolean;
            unknown: string | null;
        };
        FirewallReached: {
            to: components["schemas"]["FirewallShownEnd"];
            rows: components["schemas"]["FirewallReachRow"][];
            omitted: number;
            at: string;
            as_of: string;
        };
        FirewallReference: {
            /** @enum {string} */
            type: "alias" | "ipset";
            name: string;
            ref: string;
            scope: string | null;
            comment: string | null;
        };
        FirewallRule: {
            pos: number;
            /** @enum {string} */
            type: "in" | "out" | "forward" | "group";
            action: string;
            enable: number;
            macro: string | null;
            iface: string | null;
            source: string | null;
            dest: string | null;
            sport: string | null;
            dport: string | null;
            proto: string | null;
            log: string | null;
            icmp_type: string | null;
            comment: string | null;
            digest: string | null;
        };
        FirewallRuleChanged: {
            pos: number | null;
            digest: string | null;
            rule: components["schemas"]["FirewallRule"];
            note: string | null;
        };
        FirewallRuleIn: {
            /** @enum {string} */
            type: "in" | "out" | "forward" | "group";
            action: string;
            enable?: number | null;
            pos?: number | null;
            macro?: string | null;
            iface?: string | null;
            source?: string | null;
            dest?: string | null;
            sport?: string | null;
            dport?: string | null;
            proto?: string | null;
            log?: string | null;
            icmp_type?: string | null;
            comment?: string | null;
            digest?: string | null;
        };
        FirewallRulePatch: {
            type?: ("in" | "out" | "forward" | "group") | null;
            action?: string | null;
            enable?: number | null;
            macro?: string | null;
            iface?: string | null;
            source?: string | null;
            dest?: string | null;
            sport?: string | null;
            dport?: string | null;
            proto?: string | null;
            log?: string | null;
            icmp_type?: string | null;
            comment?: string | null;
            digest?: string | null;
            delete?: string | null;
        };
        FirewallShownEnd: {
            /** @enum {string} */
            kind: "guest" | "node" | "address" | "outside";
            guest_id: number | null;
            app_id: number | null;
            name: string | null;
            nic: string | null;
            node: string | null;
            address: string | null;
            iface: string | null;
        };
        FirewallShownScope: {
            /** @enum {string} */
            kind: "cluster" | "node" | "guest" | "group";
            guest_id: number | null;
            app_id: number | null;
            name: string | null;
        };
        FirewallStep: {
            scope: components["schemas"]["FirewallShownScope"] | null;
            rule: components["schemas"]["FirewallRule"] | null;
            check: string | null;
            part: number | null;
            via: components["schemas"]["FirewallVia"] | null;
            /** @enum {string} */
            why: "matched" | "disabled" | "direction" | "interface" | "family" | "protocol" | "icmp_type" | "source" | "dest" | "source_nomatch" | "dest_nomatch" | "sport" | "dport" | "invalid" | "not_in_force" | "group_missing" | "group_passed" | "not_met";
            text: string;
        };
        FirewallTested: {
            /** @enum {string} */
            verdict: "accept" | "drop" | "reject" | "unknown";
            summary: string;
            reason: string | null;
            from: components["schemas"]["FirewallShownEnd"];
            to: components["schemas"]["FirewallShownEnd"];
            by: components["schemas"]["FirewallStep"] | null;
            path: components["schemas"]["FirewallHop"][];
            at: string;
            as_of: string;
        };
        FirewallVia: {
            scope: components["schemas"]["FirewallShownScope"];
            pos: number;
        };
        Guest: {
            id: number;
            /** @enum {string} */
            kind: "vm" | "container";
            name: string;
            vmid: number | null;
            guest_ref: string;
            /** @enum {string} */
            status: "running" | "stopped" | "paused" | "suspended" | "unknown" | "pending";
            job_id: number | null;
            host_id: number;
            host: string;
            cluster: string;
            node: string;
            template: boolean;
            lock: string;
            pool: string;
            tags: string[];
            cpu: number | null;
            cpus: number | null;
            memory_bytes: number | null;
            memory_total_bytes: number | null;
            disk_bytes: number | null;
            disk_total_bytes: number | null;
            net_in_bytes: number | null;
            net_out_bytes: number | null;
            disk_read_bytes: number | null;
            disk_write_bytes: number | null;
            uptime_s: number | null;
            is_self: boolean;
            seen_at: string;
            figures_at: string | null;
            addresses: string[] | null;
            addresses_at: string | null;
        };
        GuestBulk: {
            jobs: components["schemas"]["JobView"][];
            skipped: components["schemas"]["GuestSkipped"][];
        };
        GuestBulkTarget: {
            vm: number | null;
            app: number | null;
        };
        GuestChangedInterface: {
            key: string;
            name: string | null;
            mac: string | null;
            bridge: string | null;
            model: string | null;
            tag: number | null;
            rate: number | null;
            mtu: number | null;
            firewall: boolean;
            link_down: boolean;
            ip: string | null;
            gw: string | null;
            ip6: string | null;
            gw6: string | null;
            addresses: string[] | null;
            addresses_error: string | null;
            pending: boolean;
            digest: string | null;
            pending_restart: boolean;
        };
        GuestConfig: {
            digest: string | null;
            name: string;
            description: string;
            tags: string[];
            protected: boolean;
            ostype: string | null;
            cpu_type: string | null;
            cores: number | null;
            sockets: number | null;
            memory_mb: number | null;
            balloon_mb: number | null;
            swap_mb: number | null;
            disks: components["schemas"]["GuestDisk"][];
            nics: components["schemas"]["GuestNIC"][];
            pending: {
                [key: string]: string | null;
            };
            pending_restart: boolean;
        };
        GuestDisk: {
            key: string;
            storage: string | null;
            volume: string | null;
            size_gb: number | null;
            removable: boolean;
            local: boolean;
            path: string | null;
        };
        GuestEntry: {
            id: number;
            /** @enum {string} */
            kind: "vm" | "container";
            name: string;
            vmid: number | null;
            guest_ref: string;
            /** @enum {string} */
            status: "running" | "stopped" | "paused" | "suspended" | "unknown" | "pending";
            job_id: number | null;
            host_id: number;
            host: string;
            cluster: string;
            node: string;
            template: boolean;
            lock: string;
            pool: string;
            tags: string[];
            cpu: number | null;
            cpus: number | null;
            memory_bytes: number | null;
            memory_total_bytes: number | null;
            disk_bytes: number | null;
            disk_total_bytes: number | null;
            net_in_bytes: number | null;
            net_out_bytes: number | null;
            disk_read_bytes: number | null;
            disk_write_bytes: number | null;
            uptime_s: number | null;
            is_self: boolean;
            seen_at: string;
            figures_at: string | null;
            addresses: string[] | null;
            addresses_at: string | null;
            app_id: number | null;
            app: string | null;
            cluster_id: number;
            team_id: number;
            team: string;
            backup_at: string | null;
        };
        GuestInterface: {
            key: string;
            name: string | null;
            mac: string | null;
            bridge: string | null;
            model: string | null;
            tag: number | null;
            rate: number | null;
            mtu: number | null;
            firewall: boolean;
            link_down: boolean;
            ip: string | null;
            gw: string | null;
            ip6: string | null;
            gw6: string | null;
            addresses: string[] | null;
            addresses_error: string | null;
            pending: boolean;
            digest: string | null;
        };
        GuestMade: {
            job: components["schemas"]["JobView"];
            is_self: boolean;
            vmid: number | null;
            guest_ref: string;
        };
        GuestMigrating: {
            job: components["schemas"]["JobView"];
            is_self: boolean;
            preflight: components["schemas"]["GuestPreflight"];
        };
        GuestMigrationDisk: {
            key: string;
            storage: string;
            size_bytes: number | null;
        };
        GuestMigrationFinding: {
            code: string;
            message: string;
        };
        GuestNIC: {
            key: string;
            name: string | null;
            mac: string | null;
            bridge: string | null;
        };
        GuestNamedTarget: {
            vm?: number;
            app?: number;
        };
        GuestPlacement: {
            node: string;
            number: number | null;
            storages: components["schemas"]["GuestPlacementStorage"][];
            bridges: string[];
            ostypes: string[];
            limits: components["schemas"]["GuestPlacementLimits"];
        };
        GuestPlacementLimits: {
            cores: number | null;
            memory_mb: number | null;
            disk_gb: number | null;
            min_number: number | null;
            max_number: number | null;
        };
        GuestPlacementStorage: {
            name: string;
            vms: boolean;
            containers: boolean;
            backups: boolean;
            templates: boolean;
            shared: boolean;
            available: boolean;
            free_bytes: number | null;
        };
        GuestPreflight: {
            strategy: ("cluster" | "shared_storage" | "transfer") | null;
            rejected: components["schemas"]["GuestMigrationFinding"][];
            possible: boolean;
            node: string;
            target_host_id: number;
            target_node: string;
            target_guest_ref: string;
            running: boolean;
            live: boolean;
            blockers: components["schemas"]["GuestMigrationFinding"][];
            warnings: components["schemas"]["GuestMigrationFinding"][];
            disks: components["schemas"]["GuestMigrationDisk"][];
            bytes: number | null;
            downtime_s: number | null;
            downtime_basis: string;
            source_storage: string | null;
            target_storage: string | null;
        };
        GuestSkipped: {
            target: components["schemas"]["GuestBulkTarget"];
            error: string;
            detail: string;
        };
        GuestSnapshot: {
            name: string;
            parent: string | null;
            description: string;
            snaptime: string | null;
            vmstate: boolean;
            incomplete: boolean;
        };
        GuestStarted: {
            job: components["schemas"]["JobView"];
            is_self: boolean;
        };
        HTTPValidationError: {
            type: string;
            title: string;
            status: number;
            detail: components["schemas"]["ValidationError"][];
            error: string;
            request_id: string;
        };
        Host: {
            id: number;
            name: string;
            address: string;
            team_id: number;
            driver: string;
            /** @enum {string} */
            status: "pending" | "online" | "unreachable";
            reason: string | null;
            error: string | null;
            version: string | null;
            cluster: components["schemas"]["HostCluster"] | null;
            entry_node: string | null;
            tls_fingerprint: string | null;
            verify_tls: boolean;
            node_shell_enabled: boolean;
            ssh_host_key_fingerprint: string | null;
            ssh: components["schemas"]["HostSSH"];
            capabilities: components["schemas"]["HostCredential"][];
            counts: components["schemas"]["HostCounts"];
            polled_at: string | null;
            ok_at: string | null;
            is_self: boolean;
            created_at: string;
        };
        HostCandidate: {
            /** @enum {string} */
            capability: "monitoring" | "lifecycle" | "console" | "backup" | "node_power";
            credential_form?: string;
            token_id?: string;
            token_secret: string;
        };
        HostCapability: {
            key: string;
            label: string;
            why: string;
            required: boolean;
        };
        HostCertificate: {
            fingerprint: string | null;
            subject: string | null;
            names: string[];
            issuer: string | null;
            not_before: string | null;
            not_after: string;
            days_left: number;
            self_signed: boolean | null;
            trusted: boolean | null;
            distrust: string | null;
        };
        HostCheck: {
            reachable: boolean;
            reason: string | null;
            error: string | null;
            version: string | null;
            latency_ms: number | null;
            seen_fingerprint: string | null;
            fingerprint_changed: boolean;
            capabilities: components["schemas"]["HostTokenCheck"][];
        };
        HostCluster: {
            id: number;
            name: string;
        };
        HostCode: {
            addresses: string[];
            fingerprint: string | null;
            expires_at: string | null;
        };
        HostConsoleLimit: {
            /** @enum {string} */
            of: "vm" | "app" | "node";
            /** @enum {string} */
            kind: "terminal" | "graphical";
            reason: string;
        };
        HostCounts: {
            nodes: number;
            vms: number;
            containers: number;
            apps: number;
        };
        HostCreated: {
            id: number;
            name: string;
            address: string;
            team_id: number;
            driver: string;
            /** @enum {string} */
            status: "pending" | "online" | "unreachable";
            reason: string | null;
            error: string | null;
            version: string | null;
            cluster: components["schemas"]["HostCluster"] | null;
            entry_node: string | null;
            tls_fingerprint: string | null;
            verify_tls: boolean;
            node_shell_enabled: boolean;
            ssh_host_key_fingerprint: string | null;
            ssh: components["schemas"]["HostSSH"];
            capabilities: components["schemas"]["HostCredential"][];
            counts: components["schemas"]["HostCounts"];
            polled_at: string | null;
            ok_at: string | null;
            is_self: boolean;
            created_at: string;
            verification: components["schemas"]["HostVerification"];
        };
        HostCredential: {
            key: string;
            token_id: string;
            form: string;
            verified_at: string | null;
            missing: string[];
            extra: string[];
            recommended: string[];
            console_limits: components["schemas"]["HostConsoleLimit"][];
        };
        HostCredentialForm: {
            name: string;
            label: string;
            id_label: string | null;
            secret_label: string;
            multiline: boolean;
            one_time: boolean;
        };
        HostDriver: {
            name: string;
            product: string;
            default_port: number;
            credential_forms: components["schemas"]["HostCredentialForm"][];
            capabilities: string[];
            scope: components["schemas"]["HostScope"] | null;
            actions: components["schemas"]["HostDriverActions"];
        };
        HostDriverActions: {
            vm: string[];
            container: string[];
        };
        HostEnrolledPeer: {
            node: string;
            host_id: number | null;
            name: string | null;
            capabilities: string[];
            error: string | null;
            detail: string | null;
            reason: string | null;
            missing: string[];
            path: string | null;
            remedy: string | null;
        };
        HostLog: {
            lines: components["schemas"]["HostLogLine"][];
            total: number;
        };
        HostLogLine: {
            n: number;
            t: string;
        };
        HostNodeDisk: {
            path: string;
            kind: ("hdd" | "ssd" | "nvme" | "usb") | null;
            model: string | null;
            vendor: string | null;
            serial: string | null;
            wwn: string | null;
            size_bytes: number | null;
            rpm: number | null;
            use: string | null;
            health: ("passed" | "failed") | null;
            wear_percent: number | null;
            wakes: boolean;
        };
        HostNodeHardware: {
            node: string;
            health_asked: boolean;
            disks: components["schemas"]["HostNodeDisk"][] | null;
            interfaces: components["schemas"]["HostNodeInterface"][] | null;
            pci: components["schemas"]["HostPCIDevice"][] | null;
            services: components["schemas"]["HostNodeService"][] | null;
            subscription: components["schemas"]["HostNodeSubscription"] | null;
            system: components["schemas"]["HostNodeSystem"] | null;
            unreadable: components["schemas"]["HostUnreadable"][];
        };
        HostNodeInterface: {
            name: string;
            type: string;
            active: boolean | null;
            autostart: boolean | null;
            addresses: string[];
            gateways: string[];
            ports: string[];
            comment: string | null;
        };
        HostNodeService: {
            name: string;
            description: string | null;
            state: string | null;
            active: string | null;
            enabled: string | null;
        };
        HostNodeStatus: {
            node: string;
            is_self: boolean;
            at: string | null;
            uptime_s: number | null;
            load_average: number[];
            cpu: number | null;
            cpus: number | null;
            cores: number | null;
            sockets: number | null;
            cpu_model: string | null;
            memory_bytes: number | null;
            memory_total_bytes: number | null;
            swap_bytes: number | null;
            swap_total_bytes: number | null;
            disk_bytes: number | null;
            disk_total_bytes: number | null;
            ksm_shared_bytes: number | null;
            kernel: string | null;
            version: string | null;
            boot_mode: ("efi" | "bios") | null;
            secure_boot: boolean | null;
        };
        HostNodeSubscription: {
            status: string | null;
            product: string | null;
            level: string | null;
            message: string | null;
            key: string | null;
            sockets: number | null;
            due: string | null;
            checked_at: string | null;
        };
        HostNodeSystem: {
            nameservers: string[];
            search_domain: string | null;
            timezone: string | null;
            clock: string | null;
        };
        HostPCIDevice: {
            address: string;
            class: string | null;
            vendor: string | null;
            vendor_name: string | null;
            device: string | null;
            device_name: string | null;
            iommu_group: number | null;
            mediated: boolean;
        };
        HostPeer: {
            node: string;
            address: string | null;
            fingerprint: string | null;
            online: boolean;
            reachable: boolean;
            version: string | null;
            latency_ms: number | null;
            missing: string[];
            reason: string | null;
            error: string | null;
            seen_fingerprint: string | null;
            enrolled: boolean;
            host_id: number | null;
            can_enrol: boolean;
        };
        HostPendingSSHKey: {
            public_key: string;
            install_command: string;
            created_at: string;
        };
        HostProbed: {
            reachable: boolean;
            version: string;
            node: string | null;
            fingerprint: string;
            not_after: string | null;
            certificate: components["schemas"]["HostCertificate"] | null;
            latency_ms: number;
            missing: string[];
            extra: string[];
            recommended: string[];
            remedy: string | null;
            paths: string[];
            console_limits: components["schemas"]["HostConsoleLimit"][];
            one_time_code: components["schemas"]["HostCode"] | null;
            tokens: components["schemas"]["HostTokenCheck"][];
            kept: string[];
        };
        HostRemoval: {
            removed: boolean;
            commands: string[];
        };
        HostRemoved: {
            removed: boolean;
        };
        HostRotated: {
            capability: string | null;
            token_id: string | null;
            form: string | null;
            verification: components["schemas"]["HostVerification"] | null;
            public_key: string | null;
            install_command: string | null;
            tokens: components["schemas"]["HostStoredToken"][];
            kept: string[];
        };
        HostSSH: {
            enrolled: boolean;
            verified_at: string | null;
            fingerprint: string | null;
            user: string;
            port: number;
            public_key: string | null;
            pending: components["schemas"]["HostPendingSSHKey"] | null;
            consent: components["schemas"]["HostSSHConsent"] | null;
        };
        HostSSHCheck: {
            user: string;
            fingerprint: string;
            host_key_type: string;
            server: string;
            seconds: number;
            pinned: boolean;
            activated: boolean;
            remove_command: string | null;
        };
        HostSSHConsent: {
            by: string;
            at: string;
            version: number;
        };
        HostScope: {
            word: string;
            holds: string;
            example: string;
        };
        HostSelf: {
            host_id: number | null;
        };
        HostStoredToken: {
            capability: string;
            token_id: string;
            form: string;
            verification: components["schemas"]["HostVerification"];
        };
        HostTask: {
            upid: string;
            node: string;
            type: string;
            vmid: number | null;
            guest_ref: string | null;
            user: string;
            token_id: string | null;
            /** @enum {string} */
            status: "running" | "ok" | "warning" | "failed" | "unknown";
            error: string | null;
            started_at: string;
            ended_at: string | null;
        };
        HostTokenCheck: {
            key: string;
            token_id: string | null;
            form: string | null;
            ok: boolean;
            reason: string | null;
            error: string | null;
            missing: string[];
            extra: string[];
            recommended: string[];
            remedy: string | null;
            console_limits: components["schemas"]["HostConsoleLimit"][];
            expires_at: string | null;
        };
        HostTokenScript: {
            script: string;
            undo: string[];
        };
        HostUnreadable: {
            /** @enum {string} */
            section: "disks" | "interfaces" | "pci" | "services" | "subscription" | "system";
            reason: string;
            detail: string;
            missing: string[];
            path: string | null;
            remedy: string | null;
        };
        HostVerification: {
            version: string;
            node: string | null;
            fingerprint: string;
            not_after: string | null;
            certificate: components["schemas"]["HostCertificate"] | null;
            latency_ms: number;
            missing: string[];
            extra: string[];
            recommended: string[];
            remedy: string | null;
            paths: string[];
            console_limits: components["schemas"]["HostConsoleLimit"][];
        };
        InstallCatalogEntryRequest: {
            host_id: number;
            name: string;
            consent?: boolean;
            ctid?: number | null;
            overrides?: {
                [key: string]: unknown;
            };
            sum?: string | null;
            storage?: string | null;
            template_storage?: string | null;
            bridge?: string | null;
            answers?: string[];
            yes?: boolean;
        };
        JobAgain: {
            job?: components["schemas"]["JobView"];
            jobs?: components["schemas"]["JobView"][];
        } & {
            [key: string]: unknown;
        };
        JobCanceled: {
            job: components["schemas"]["JobView"];
        };
        JobEvent: {
            seq: number;
            at: string;
            /** @enum {string} */
            kind: "log" | "note" | "status";
            text: string;
        };
        JobRequester: {
            id: number | null;
            email: string;
        };
        JobTarget: {
            kind: string;
            id: number;
            name: string;
        };
        JobView: {
            id: number;
            kind: string;
            /** @enum {string} */
            status: "queued" | "running" | "succeeded" | "failed" | "canceled" | "unknown";
            target: components["schemas"]["JobTarget"];
            host_id: number | null;
            requested_by: components["schemas"]["JobRequester"] | null;
            schedule_id: number | null;
            task_id: string;
            error: string;
            progress: number | null;
            last_line: string;
            params: {
                [key: string]: unknown;
            };
            cancel_requested: boolean;
            runs: number;
            created_at: string;
            started_at: string | null;
            finished_at: string | null;
            duration_s: number | null;
        };
        Key: {
            id: number;
            name: string;
            prefix: string;
            current: boolean;
            scopes: string[] | null;
            expires_at: string | null;
            last_used_at: string | null;
            created_at: string;
        };
        KeyCreated: {
            id: number;
            name: string;
            prefix: string;
            current: boolean;
            scopes: string[] | null;
            expires_at: string | null;
            last_used_at: string | null;
            created_at: string;
            key: string;
        };
        ListFirewallReachRequest: {
            to: components["schemas"]["FirewallEnd"];
            /** @default 200 */
            limit: number;
            /** @default current */
            at: string;
        };
        LogInRequest: {
            email: string;
            password: string;
        };
        LogInResult: {
            user?: components["schemas"]["AuthUser"];
            totp_required?: boolean;
            pending?: string;
            factors?: ("totp" | "passkey")[];
        };
        LogOutAtProviderResult: {
            url: string | null;
        };
        MetaRequestIn: {
            version?: string | null;
        };
        MetricMark: {
            /** @enum {string} */
            kind: "job" | "alert";
            id: number;
            target: string;
            title: string;
            state: string;
            at: string;
            until: string | null;
        };
        MetricOneSeries: {
            target: string;
            name: string;
            metric: string;
            /** @enum {string} */
            unit: "ratio" | "bytes" | "bytes_per_second";
            points: (number | null)[];
        };
        MetricSeries: {
            from: string;
            to: string;
            /** @enum {string} */
            resolution: "raw" | "5m" | "1h";
            step_s: number;
            complete_to: string | null;
            series: components["schemas"]["MetricOneSeries"][];
            marks: components["schemas"]["MetricMark"][];
        };
        MigrateVmRequest: {
            target_host_id: number;
            node?: string | null;
            storage?: string | null;
            strategy?: ("cluster" | "shared_storage" | "transfer") | null;
            confirm?: string | null;
        };
        NetworkAttachment: {
            cluster_id: number;
            node: string;
            bridge: string;
            guest_id: number;
            /** @enum {string} */
            kind: "vm" | "container";
            name: string;
            vmid: number | null;
            nic: string;
            vlan: number | null;
            as_of: string;
        };
        NetworkBridges: {
            nodes: components["schemas"]["NetworkNode"][];
            attachments: components["schemas"]["NetworkAttachment"][];
            unknown: number;
            others: number;
            errors: components["schemas"]["NetworkFailure"][];
        };
        NetworkFailure: {
            host_id: number;
            host: string;
            node: string;
            error: string;
            reason: string | null;
            detail: string;
            missing: string[];
            remedy: string | null;
        };
        NetworkInterface: {
            name: string;
            /** @enum {string} */
            type: "nic" | "bridge" | "bond" | "vlan" | "alias" | "ovs_bridge" | "ovs_bond" | "ovs_port" | "ovs_internal" | "other";
            active: boolean;
            staged: ("added" | "changed" | "removed") | null;
            autostart: boolean;
            cidr: string | null;
            gateway: string | null;
            cidr6: string | null;
            gateway6: string | null;
            dynamic: boolean;
            dynamic6: boolean;
            ports: string[];
            device: string | null;
            vlan: number | null;
            vlan_aware: boolean;
            vlans: string | null;
            bond_mode: string | null;
            bond_primary: string | null;
            bond_hash: string | null;
            mtu: number | null;
            comment: string;
            alt_names: string[];
            options: {
                [key: string]: string;
            };
        };
        NetworkNode: {
            host_id: number;
            host: string;
            cluster_id: number;
            cluster: string;
            node: string;
            interfaces: components["schemas"]["NetworkInterface"][];
            staged: string | null;
            staged_by: components["schemas"]["NetworkStagedBy"][];
        };
        NetworkReverted: {
            host_id: number;
            node: string;
            reverted: boolean;
            diff: string | null;
            staged_by: components["schemas"]["NetworkStagedBy"][];
            others: string[];
        };
        NetworkStaged: {
            host_id: number;
            node: string;
            iface: string;
            /** @enum {string} */
            action: "create" | "edit" | "delete";
            staged: string | null;
        };
        NetworkStagedBy: {
            interface: string;
            /** @enum {string} */
            action: "create" | "edit" | "delete";
            user: string;
            at: string;
        };
        NotificationSecrets: {
            url?: string | null;
            secret?: string | null;
            token?: string | null;
            password?: string | null;
            user?: string | null;
        };
        OptionFirewall: {
            enable: number | null;
            dhcp: number | null;
            ndp: number | null;
            radv: number | null;
            macfilter: number | null;
            ipfilter: number | null;
            policy_in: string | null;
            policy_out: string | null;
            digest: string | null;
        };
        OptionKey: {
            name: string;
            /** @enum {string} */
            type: "string" | "boolean" | "integer" | "number";
            values: string[] | null;
            min: number | null;
            max: number | null;
            max_length: number | null;
            autostart: boolean;
        };
        OptionVMOptions: {
            digest: string | null;
            firewall: components["schemas"]["OptionFirewall"] | null;
            options: {
                [key: string]: unknown;
            };
            pending: {
                [key: string]: unknown;
            };
            pending_restart: boolean;
            keys: components["schemas"]["OptionKey"][];
        };
        PatchHostRequest: {
            name?: string;
            address?: string;
            tls_fingerprint?: string | null;
            ssh_host_key_fingerprint?: string | null;
            ssh_port?: number | null;
            node_shell_enabled?: boolean | null;
            team_id?: number | null;
        };
        PatchTeamRequest: {
            name?: string;
            description?: string | null;
        };
        PatchUserRequest: {
            display_name?: string | null;
            is_active?: boolean;
        };
        Plan: {
            effects: components["schemas"]["PlanEffect"][];
            warnings: string[];
            blockers: components["schemas"]["PlanBlocker"][];
            confirm_phrase: string | null;
            is_self: boolean;
            digest: string;
        };
        PlanBlocker: {
            error: string;
            detail: string;
        };
        PlanEffect: {
            /** @enum {string} */
            kind: "guest" | "uptime" | "data" | "disk" | "snapshot" | "backup" | "schedule" | "app" | "credential" | "access" | "host" | "rule" | "traffic";
            text: string;
            name: string | null;
            size_bytes: number | null;
            at: string | null;
        };
        Plugin: {
            name: string;
            kind: string;
            version: string;
            capabilities: string[];
            /** @enum {string} */
            state: "starting" | "running" | "backing_off" | "stopped" | "failed";
            pid: number | null;
            restarts: number;
            digest: string;
            error: string;
        };
        PowerNodeRequest: {
            /** @enum {string} */
            command: "reboot" | "shutdown";
            confirm?: string | null;
        };
        ProbeHostRequest: {
            driver?: string;
            credential_form?: string;
            token_id?: string;
            token_secret?: string;
            paste?: string;
            tls_fingerprint?: string | null;
            /** @default true */
            verify_tls: boolean;
            tokens?: components["schemas"]["HostCandidate"][];
            address?: string;
            name?: string | null;
        };
        Problem: {
            type: string;
            title: string;
            status: number;
            detail: string;
            error: string;
            request_id: string;
        } & {
            [key: string]: unknown;
        };
        PutAppScriptRequest: {
            content: string;
            digest?: string;
        };
        ReconfigureAppRequest: {
            cores?: number | null;
            memory_mb?: number | null;
            swap_mb?: number | null;
            name?: string | null;
            web_port?: number | null;
            web_path?: string | null;
            web_protocol?: ("http" | "https") | null;
            slug?: string | null;
            disks?: {
                [key: string]: components["schemas"]["ConfigDiskSize"];
            };
            digest?: string;
        };
        ReconfigureVmRequest: {
            cores?: number;
            sockets?: number;
            memory_mb?: number;
            balloon_mb?: number | null;
            cpu_type?: string;
            name?: string;
            description?: string | null;
            tags?: string[] | null;
            disks?: {
                [key: string]: components["schemas"]["ConfigDiskSize"];
            };
            digest?: string;
        };
        RemotewriteState: {
            url: string | null;
            tls_fingerprint: string | null;
            /** @enum {string} */
            auth: "none" | "basic" | "bearer";
            username: string | null;
            sent_to: string | null;
            late_s: number | null;
            samples_sent: number;
            samples_refused: number;
            last_ok_at: string | null;
            last_error: string | null;
            last_error_at: string | null;
            failures: number;
        };
        RemoveHostRequest: {
            confirm?: string | null;
            forget_apps?: boolean;
        };
        RenamePasskeyRequest: {
            name: string;
        };
        ResetPasswordRequest: {
            password: string;
            /** @default false */
            revoke_keys: boolean;
        };
        RestoreBackupRequest: {
            over?: boolean;
            newid?: number | null;
            name?: string | null;
            node?: string | null;
            storage?: string | null;
            new_identity?: boolean | null;
            start?: boolean;
            confirm?: string | null;
        };
        RetryJobRequest: {
            confirm?: string | null;
        };
        RollbackVmSnapshotRequest: {
            confirm?: string | null;
        };
        RotateHostCredentialsRequest: {
            capability?: string | null;
            credential_form?: string | null;
            token_id?: string | null;
            token_secret?: string | null;
            paste?: string | null;
            rotate_ssh?: boolean;
            ssh_consent?: boolean;
        };
        RunBackupsRequest: {
            targets: components["schemas"]["GuestNamedTarget"][];
            storage?: string | null;
            mode?: ("snapshot" | "suspend" | "stop") | null;
            compress?: ("0" | "gzip" | "lzo" | "zstd") | null;
            notes?: string | null;
            protected?: boolean;
            confirm?: string | null;
        };
        Schedule: {
            id: number;
            name: string;
            cron: string;
            timezone: string;
            job_kind: string;
            params: unknown;
            enabled: boolean;
            next_run_at: string | null;
            last_run_at: string | null;
            last_job_id: number | null;
            last_error: string;
            disabled_reason: string;
            writer: components["schemas"]["ScheduleWriter"] | null;
            seeded: boolean;
            created_at: string;
            updated_at: string;
        };
        ScheduleKind: {
            kind: string;
            summary: string;
            params: unknown;
        };
        ScheduleStarted: {
            job: components["schemas"]["JobView"];
        };
        ScheduleTimes: {
            times: string[];
        };
        ScheduleWriter: {
            id: number | null;
            email: string;
        };
        SearchHit: {
            /** @enum {string} */
            kind: "vm" | "container" | "app" | "host" | "node" | "storage" | "schedule" | "catalog" | "job";
            id: number | null;
            name: string;
            status: string;
            vmid: number | null;
            host_id: number | null;
            host: string | null;
            node: string | null;
            cluster: string | null;
            team_id: number | null;
            tags: string[];
            addresses: string[];
            detail: string | null;
            at: string | null;
        };
        SelfUpdateAvailable: {
            version: string;
            channel: string;
            date: string;
            notes_url: string;
            size: number;
            checked_at: string;
        };
        SelfUpdateLastLook: {
            at: string;
            error: string;
        };
        SelfUpdateRequest: {
            id: string;
            version: string;
            requested_by: string;
            requested_at: string;
        };
        SelfUpdateRun: {
            id: string;
            request: string;
            requested_by: string;
            from: string;
            to: string;
            step: string;
            steps: components["schemas"]["SelfUpdateStep"][];
            reason: string;
            started_at: string;
            finished_at: string | null;
            dry_run: boolean;
        };
        SelfUpdateStatus: {
            current_version: string;
            available: components["schemas"]["SelfUpdateAvailable"] | null;
            last_check: components["schemas"]["SelfUpdateLastLook"] | null;
            /** @enum {string} */
            shape: "package" | "container" | "source";
            can_self_apply: boolean;
            hint: string;
            channel: string;
            /** @enum {string} */
            state: "idle" | "requested" | "running" | "interrupted" | "done" | "failed" | "rolled_back" | "refused";
            request: components["schemas"]["SelfUpdateRequest"] | null;
            run: components["schemas"]["SelfUpdateRun"] | null;
            problems: string[];
        };
        SelfUpdateStep: {
            step: string;
            started_at: string;
            ended_at: string | null;
        };
        SetPreferencesRequest: {
            value: {
                [key: string]: unknown;
            };
            revision?: number | null;
        };
        SetRemoteWriteRequest: {
            url: string;
            tls_fingerprint?: string | null;
            username?: string | null;
            password?: string | null;
            bearer_token?: string | null;
        };
        SetSelfHostRequest: {
            host_id?: number | null;
        };
        SetTeamMemberRequest: {
            /** @enum {string} */
            role?: "viewer" | "operator" | "admin" | "owner";
            cidr?: unknown;
            comment?: unknown;
            nomatch?: unknown;
        };
        Setting: {
            key: string;
            value: unknown;
            default: unknown;
            doc: string;
            set: boolean;
            /** @enum {string} */
            kind: "number" | "flag" | "text" | "texts" | "host";
            minimum: number | null;
            maximum: number | null;
            changed_at: string | null;
            changed_by: string | null;
        };
        SettingEntitlement: {
            name: string;
            enabled: boolean;
            description: string;
        };
        SetupFirstOwner: {
            id: number;
            email: string;
            display_name: string | null;
        };
        SetupState: {
            needed: boolean;
        };
        SilenceAlertRequest: {
            until?: string;
            for_s?: number;
            note?: string | null;
        };
        SsoOffer: {
            id: number;
            name: string;
        };
        SsoProvider: {
            id: number;
            name: string;
            issuer: string;
            client_id: string;
            client_secret_set: boolean;
            scopes: string[];
            groups_claim: string;
            rules: components["schemas"]["SsoRule"][];
            /** @enum {string} */
            accounts: "create" | "invited";
            trust_email: boolean;
            allow_private: boolean;
            tls_fingerprint: string;
            enabled: boolean;
            created_at: string;
            updated_at: string;
            redirect_uri: string | null;
            post_logout_redirect_uri: string | null;
        };
        SsoRule: {
            group: string;
            team_id: number;
            /** @enum {string} */
            role: "viewer" | "operator" | "admin" | "owner";
        };
        SsoTrial: {
            ok: boolean;
            error: string | null;
            notices: string[];
            authorization_endpoint: string | null;
            token_endpoint: string | null;
            userinfo_endpoint: string | null;
            end_session_endpoint: string | null;
            algorithms: string[];
            scopes_supported: string[];
            claims_supported: string[];
            keys: number;
        };
        Storage: {
            host_id: number;
            host: string;
            cluster_id: number;
            cluster: string;
            name: string;
            type: string;
            shared: boolean;
            /** @enum {string} */
            status: "available" | "unknown";
            content: string[];
            used_bytes: number | null;
            total_bytes: number | null;
            as_of: string;
            nodes: components["schemas"]["StorageNode"][];
            days_until_full: number | null;
        };
        StorageAttached: {
            host_id: number;
            storage: string;
            type: string;
        };
        StorageDetached: {
            host_id: number;
            storage: string;
            detached: boolean;
        };
        StorageDetail: {
            host_id: number;
            name: string;
            type: string;
            digest: string;
            config: {
                [key: string]: string;
            };
            shared: boolean | null;
            content: string[];
            nodes: components["schemas"]["StorageNode"][];
            days_until_full: number | null;
        };
        StorageKey: {
            name: string;
            /** @enum {string} */
            type: "string" | "boolean" | "integer" | "list";
            values: string[] | null;
            min: number | null;
            max: number | null;
            max_length: number | null;
            required: boolean;
            fixed: boolean;
            secret: boolean;
        };
        StorageNode: {
            node: string;
            host_id: number;
            /** @enum {string} */
            status: "available" | "unknown";
            used_bytes: number | null;
            total_bytes: number | null;
            as_of: string;
            figures_at: string | null;
            days_until_full: number | null;
        };
        StorageTemplate: {
            template: string;
            title: string;
            section: string;
            os: string;
            version: string;
            architecture: string;
            description: string;
            present: boolean;
        };
        StorageType: {
            name: string;
            keys: components["schemas"]["StorageKey"][];
        };
        StorageVolume: {
            volid: string;
            name: string;
            node: string;
            /** @enum {string} */
            kind: "disk" | "image" | "template" | "backup" | "other";
            content: string;
            format: string;
            size_bytes: number | null;
            used_bytes: number | null;
            created_at: string | null;
            guest_ref: string | null;
            parent: string | null;
            notes: string;
            protected: boolean;
            encrypted: boolean;
            verified: ("ok" | "failed") | null;
        };
        Team: {
            id: number;
            name: string;
            slug: string;
            description: string | null;
            created_at: string;
            members: number;
            hosts: number;
        };
        TeamDeleted: {
            deleted: boolean;
            hosts: number;
        };
        TeamMember: {
            user_id: number;
            email: string;
            display_name: string | null;
            is_active: boolean;
            /** @enum {string} */
            role: "viewer" | "operator" | "admin" | "owner";
            added_at: string;
        };
        TeamMemberRemoved: {
            removed: boolean;
        };
        Template: {
            id: number;
            team_id: number;
            shared: boolean;
            name: string;
            description: string | null;
            version: number;
            content: components["schemas"]["DraftContent"];
            created_by: string;
            created_at: string;
            updated_at: string;
        };
        TestFirewallPacketRequest: {
            from: components["schemas"]["FirewallEnd"];
            to: components["schemas"]["FirewallEnd"];
            protocol: string;
            sport?: number;
            dport?: number;
            icmp_type?: string;
            /** @default current */
            at: string;
        };
        UninstallAppRequest: {
            confirm?: string | null;
            keep_ct?: boolean;
        };
        UpdateAlertRuleRequest: {
            name?: string;
            description?: string | null;
            on?: components["schemas"]["AlertRuleScope"] | null;
            threshold?: number;
            clear_level?: number | null;
            for_s?: number;
            clear_for_s?: number;
            /** @enum {string} */
            severity?: "critical" | "warning" | "info";
            labels?: {
                [key: string]: string;
            } | null;
            enabled?: boolean;
        };
        UpdateAllAppsRequest: {
            consent?: boolean;
            stop_after?: number;
        };
        UpdateAppRequest: {
            consent?: boolean;
        };
        UpdateBackupRequest: {
            protected: boolean;
        };
        UpdateCatalogSourceRequest: {
            enabled?: boolean;
            allow_private?: boolean;
            popularity?: boolean;
            trust_digest?: string;
            options?: {
                [key: string]: unknown;
            };
        };
        UpdateIdentityProviderRequest: {
            name?: string;
            issuer?: string;
            client_id?: string;
            client_secret?: string | null;
            scopes?: string[];
            groups_claim?: string;
            rules?: components["schemas"]["SsoRule"][];
            /** @enum {string} */
            accounts?: "create" | "invited";
            trust_email?: boolean;
            allow_private?: boolean;
            tls_fingerprint?: string;
            enabled?: boolean;
        };
        UpdateMaintenanceWindowRequest: {
            name?: string;
            starts_at?: string;
            ends_at?: string;
            cron?: string;
            duration_s?: number;
            timezone?: string | null;
            on?: components["schemas"]["AlertMuteScope"] | null;
            enabled?: boolean;
        };
        UpdateNotificationChannelRequest: {
            name?: string;
            enabled?: boolean;
            settings?: components["schemas"]["ChannelSettings"];
            secrets?: components["schemas"]["NotificationSecrets"];
            allow_private?: boolean;
            account_mail?: boolean;
            hourly_cap?: number;
            quiet_hours?: components["schemas"]["ChannelQuiet"] | null;
            routes?: components["schemas"]["ChannelRoute"][];
            audit_actions?: string[];
        };
        UpdateScheduleRequest: {
            name?: string;
            cron?: string;
            timezone?: string | null;
            job_kind?: string;
            params?: {
                [key: string]: unknown;
            } | null;
            enabled?: boolean;
        };
        Upload: {
            id: string;
            host_id: number;
            storage: string;
            name: string;
            /** @enum {string} */
            status: "receiving" | "received" | "failed";
            received_bytes: number;
            request_bytes: number | null;
            sha256: string;
            job_id: number | null;
            error: string | null;
            detail: string;
            created_at: string;
            changed_at: string;
        };
        UploadStarted: {
            job: components["schemas"]["JobView"];
            upload: components["schemas"]["Upload"];
        };
        UserAccount: {
            id: number;
            email: string;
            display_name: string | null;
            is_active: boolean;
            totp_enabled: boolean;
            passkeys: number;
            has_password: boolean;
            providers: string[];
            created_at: string;
            last_login_at: string | null;
            role: ("viewer" | "operator" | "admin" | "owner") | null;
            teams: components["schemas"]["UserTeamRole"][];
        };
        UserDeleted: {
            deleted: boolean;
        };
        UserReset: {
            sessions_revoked: number;
            keys_revoked: number;
            keys_valid: number;
        };
        UserTeamRole: {
            id: number;
            name: string;
            slug: string;
            /** @enum {string} */
            role: "viewer" | "operator" | "admin" | "owner";
        };
        ValidationError: {
            loc: unknown[];
            msg: string;
            type: string;
        };
        WriteTokenScriptRequest: {
            driver?: string;
            capabilities?: string[];
            node_power?: boolean;
            node_shell?: boolean;
            /** @default / */
            path: string;
        };
    };
    responses: {
        Conflict: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        Forbidden: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        HypervisorFailed: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        Invalid: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["HTTPValidationError"];
            };
        };
        NotFound: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        Problem: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        Timeout: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        TooLarge: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        TooMany: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        Unauthenticated: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        Unavailable: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        Unsupported: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        UnsupportedMedia: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    list_alert_rules: {
        parameters: {
            query?: {
                page?: number;
                per_page?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRule"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    create_alert_rule: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateAlertRuleRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRule"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    list_alert_kinds: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertKindInfo"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    get_alert_rule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                rule_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRule"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    delete_alert_rule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                rule_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    update_alert_rule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                rule_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateAlertRuleRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertRule"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    list_alerts: {
        parameters: {
            query?: {
                page?: number;
                per_page?: number;
                state?: "open" | "resolved";
                severity?: "critical" | "warning" | "info";
                kind?: string;
                rule?: number;
                host?: number;
                target?: string;
                cause?: number;
                folded?: "true" | "false";
                acknowledged?: "true" | "false";
                silenced?: "true" | "false";
                since?: string;
                before?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Alert"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    get_alert: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                alert_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertDetail"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    acknowledge_alert: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                alert_id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["AcknowledgeAlertRequest"] | null;
            };
        };
        responses: {
            200: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertDetail"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    resolve_alert: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                alert_id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["AcknowledgeAlertRequest"] | null;
            };
        };
        responses: {
            200: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertDetail"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    silence_alert: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                alert_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SilenceAlertRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertDetail"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    list_api_keys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Key"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    create_api_key: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateApiKeyRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyCreated"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    revoke_api_key: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                key_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    list_apps: {
        parameters: {
            query?: {
                host?: number;
                q?: string;
                status?: "running" | "stopped" | "paused" | "suspended" | "unknown" | "pending" | "missing";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["App"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    adopt_apps: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AdoptAppsRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["App"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    list_discovered_apps: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Guest"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    update_all_apps: {
        parameters: {
            query?: {
                plan?: boolean;
                plan_digest?: string;
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["UpdateAllAppsRequest"] | null;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
            202: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AppscriptAll"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    list_app_updates: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AppscriptUpdate"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    get_app: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                app_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["App"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    uninstall_app: {
        parameters: {
            query?: {
                plan?: boolean;
                plan_digest?: string;
            };
            header?: never;
            path: {
                app_id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["UninstallAppRequest"] | null;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AppUninstalled"] | components["schemas"]["Plan"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    reconfigure_app: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                app_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReconfigureAppRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AppReconfigured"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    clone_app: {
        parameters: {
            query?: {
                plan?: boolean;
                plan_digest?: string;
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                app_id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CloneVmRequest"] | null;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
            202: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestMade"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    get_app_config: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                app_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestConfig"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    create_app_console_ticket: {
        parameters: {
            query?: {
                columns?: number;
                rows?: number;
                kind?: "terminal" | "graphical";
            };
            header?: never;
            path: {
                app_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConsoleTicket"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    connect_app_console: {
        parameters: {
            query?: {
                ticket?: string;
            };
            header?: never;
            path: {
                app_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            101: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_app_firewall_aliases: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                app_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Digest"?: string;
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallAlias"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    create_app_firewall_alias: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                app_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallAliasIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallAlias"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    change_app_firewall_alias: {
        parameters: {
            query?: {
                confirm?: string;
            };
            header?: never;
            path: {
                app_id: number;
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallAliasPatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallAlias"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    delete_app_firewall_alias: {
        parameters: {
            query?: {
                digest?: string;
                confirm?: string;
            };
            header?: never;
            path: {
                app_id: number;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallAlias"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_app_firewall_ipsets: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                app_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Digest"?: string;
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSet"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    create_app_firewall_ipset: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                app_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallIpSetIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSet"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    delete_app_firewall_ipset: {
        parameters: {
            query?: {
                digest?: string;
                confirm?: string;
            };
            header?: never;
            path: {
                app_id: number;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSet"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_app_firewall_ipset_members: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                app_id: number;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Digest"?: string;
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSetMember"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    add_app_firewall_ipset_member: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                app_id: number;
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallMemberIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSetMember"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    change_app_firewall_ipset_member: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                app_id: number;
                name: string;
                cidr: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallMemberPatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSetMember"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    remove_app_firewall_ipset_member: {
        parameters: {
            query?: {
                digest?: string;
            };
            header?: never;
            path: {
                app_id: number;
                name: string;
                cidr: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSetMember"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    read_app_firewall_log: {
        parameters: {
            query?: {
                since?: string;
                until?: string;
                action?: string;
                proto?: string;
                source?: string;
                dest?: string;
                start?: number;
                limit?: number;
            };
            header?: never;
            path: {
                app_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Next-Start"?: number;
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallLogLine"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    follow_app_firewall_log: {
        parameters: {
            query?: {
                since?: string;
                until?: string;
                action?: string;
                proto?: string;
                source?: string;
                dest?: string;
                start?: number;
                limit?: number;
            };
            header?: {
                "Last-Event-ID"?: string;
            };
            path: {
                app_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    get_app_firewall_options: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                app_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallOptions"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    change_app_firewall_options: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                app_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallOptionsIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallOptions"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_app_firewall_refs: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                app_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallReference"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_app_firewall_rules: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                app_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Digest"?: string;
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallRule"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    create_app_firewall_rule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                app_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallRuleIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallRuleChanged"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    change_app_firewall_rule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                app_id: number;
                pos: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallRulePatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallRuleChanged"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    delete_app_firewall_rule: {
        parameters: {
            query?: {
                digest?: string;
            };
            header?: never;
            path: {
                app_id: number;
                pos: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallRuleChanged"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    move_app_firewall_rule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                app_id: number;
                pos: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallMoveIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallRuleChanged"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    get_app_logs: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                app_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": string[];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            default: components["responses"]["Problem"];
        };
    };
    migrate_app: {
        parameters: {
            query?: {
                plan?: boolean;
                plan_digest?: string;
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                app_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MigrateVmRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
            202: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestMigrating"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    check_app_migration: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                app_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CheckVmMigrationRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestPreflight"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_app_nics: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                app_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestInterface"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    change_app_nic: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                app_id: number;
                iface: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeVmNicRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestChangedInterface"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_app_ports: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                app_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AppPort"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    get_app_script: {
        parameters: {
            query?: {
                version?: number;
            };
            header?: never;
            path: {
                app_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AppscriptScript"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    put_app_script: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                app_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PutAppScriptRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AppscriptScript"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    revert_app_script: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                app_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AppscriptScript"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    list_app_script_versions: {
        parameters: {
            query?: {
                page?: number;
                per_page?: number;
            };
            header?: never;
            path: {
                app_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AppscriptVersion"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    list_app_snapshots: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                app_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestSnapshot"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    create_app_snapshot: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                app_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateVmSnapshotRequest"];
            };
        };
        responses: {
            202: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestStarted"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    delete_app_snapshot: {
        parameters: {
            query?: {
                plan?: boolean;
                plan_digest?: string;
            };
            header?: never;
            path: {
                app_id: number;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestStarted"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    rollback_app_snapshot: {
        parameters: {
            query?: {
                plan?: boolean;
                plan_digest?: string;
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                app_id: number;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RollbackVmSnapshotRequest"] | null;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
            202: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestStarted"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    get_app_update: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                app_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AppscriptState"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    update_app: {
        parameters: {
            query?: {
                plan?: boolean;
                plan_digest?: string;
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                app_id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["UpdateAppRequest"] | null;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
            202: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestStarted"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            default: components["responses"]["Problem"];
        };
    };
    resolve_app_web_url: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                app_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AppWebURL"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    act_on_app: {
        parameters: {
            query?: {
                plan?: boolean;
                plan_digest?: string;
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                app_id: number;
                action: "start" | "stop" | "shutdown" | "restart";
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ActOnAppRequest"] | null;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
            202: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestStarted"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            default: components["responses"]["Problem"];
        };
    };
    list_audit: {
        parameters: {
            query?: {
                page?: number;
                per_page?: number;
                action?: string;
                search?: string;
                actor_type?: "user" | "api_key" | "system" | "anonymous";
                result?: "ok" | "refused" | "failed";
                actor?: number;
                target?: string;
                from_?: string;
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditRow"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    clear_audit: {
        parameters: {
            query?: {
                plan?: boolean;
                plan_digest?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["AuditClearIn"] | null;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditCleared"] | components["schemas"]["Plan"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    export_audit: {
        parameters: {
            query?: {
                action?: string;
                search?: string;
                actor_type?: "user" | "api_key" | "system" | "anonymous";
                result?: "ok" | "refused" | "failed";
                actor?: number;
                target?: string;
                from_?: string;
                to?: string;
                format?: "csv" | "jsonl";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                    "text/csv": string;
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    verify_audit: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditVerification"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    export_account: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    log_in: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LogInRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    "Set-Cookie"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LogInResult"];
                };
            };
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    list_logins: {
        parameters: {
            query?: {
                page?: number;
                per_page?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthLogin"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    log_out: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    "Set-Cookie"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    log_out_at_provider: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "Set-Cookie"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LogOutAtProviderResult"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    get_me: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthMe"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    list_passkeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthPasskey"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    add_passkey: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AddPasskeyRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthAddPasskeyOutput"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    begin_passkey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AuthProof"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthBeginPasskeyOutput"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    complete_passkey_log_in: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CompletePasskeyLogInRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    "Set-Cookie"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LogInResult"];
                };
            };
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    begin_passkey_log_in: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BeginPasskeyLogInRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthBeginPasskeyOutput"];
                };
            };
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    delete_passkey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                passkey_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AuthProof"];
            };
        };
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    rename_passkey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                passkey_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RenamePasskeyRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthPasskey"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    change_password: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangePasswordRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    "Set-Cookie"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthChanged"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    get_preferences: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthPreferences"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    set_preferences: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetPreferencesRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthPreferences"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    list_log_in_providers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SsoOffer"][];
                };
            };
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    complete_provider_log_in: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                provider_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CompleteProviderLogInRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    "Set-Cookie"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CompleteProviderLogInResult"];
                };
            };
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    begin_provider_log_in: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                provider_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BeginProviderLogInRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    "Set-Cookie"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BeginProviderLogInResult"];
                };
            };
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    list_sessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthSession"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    revoke_session: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    "Set-Cookie"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    complete_log_in: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CompleteLogInRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    "Set-Cookie"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LogInResult"];
                };
            };
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    disable_totp: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DisableTotpRequest"];
            };
        };
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    confirm_totp: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConfirmTotpRequest"];
            };
        };
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    enroll_totp: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthEnrolment"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    list_backups: {
        parameters: {
            query?: {
                page?: number;
                per_page?: number;
                host?: number;
                vm?: number;
                app?: number;
                storage?: string;
                guest_ref?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Backup"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    list_backup_coverage: {
        parameters: {
            query?: {
                page?: number;
                per_page?: number;
                stale?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BackupCoverage"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    run_backups: {
        parameters: {
            query?: {
                plan?: boolean;
                plan_digest?: string;
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RunBackupsRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
            202: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestBulk"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    list_backup_storages: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BackupStorage"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    delete_backup: {
        parameters: {
            query?: {
                plan?: boolean;
                plan_digest?: string;
            };
            header?: never;
            path: {
                backup_id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DeleteBackupRequest"] | null;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestStarted"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    update_backup: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                backup_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateBackupRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Backup"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    restore_backup: {
        parameters: {
            query?: {
                plan?: boolean;
                plan_digest?: string;
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                backup_id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RestoreBackupRequest"] | null;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
            202: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestMade"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_catalog: {
        parameters: {
            query?: {
                category?: string;
                q?: string;
                entry_type?: string;
                sort?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CatalogItem"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    discard_install: {
        parameters: {
            query?: {
                plan?: boolean;
                plan_digest?: string;
            };
            header?: never;
            path: {
                job_id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DiscardInstallRequest"] | null;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestStarted"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    refresh_catalog: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CatalogStarted"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    list_catalog_sources: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CatalogSource"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    update_catalog_source: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                source: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateCatalogSourceRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CatalogSource"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    accept_catalog_loss: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                source: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AcceptCatalogLossRequest"];
            };
        };
        responses: {
            202: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CatalogStarted"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    get_catalog_status: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CatalogStatus"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    get_catalog_entry: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CatalogEntry"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    get_catalog_file: {
        parameters: {
            query: {
                sum: string;
                path: string;
            };
            header?: never;
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CatalogFile"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    get_catalog_icon: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "image/jpeg": string;
                    "image/png": string;
                    "image/webp": string;
                };
            };
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    install_catalog_entry: {
        parameters: {
            query?: {
                plan?: boolean;
                plan_digest?: string;
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InstallCatalogEntryRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
            202: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestStarted"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    plan_catalog_entry: {
        parameters: {
            query: {
                host: number;
                purpose?: "install" | "update";
            };
            header?: never;
            path: {
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CatalogPlan"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    list_activity: {
        parameters: {
            query?: {
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClusterActivity"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    list_nodes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClusterNode"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    get_cluster_summary: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClusterSummary"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    list_console_recordings: {
        parameters: {
            query?: {
                page?: number;
                per_page?: number;
                target_kind?: "vm" | "app" | "host";
                target_id?: number;
                user?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConsoleRecording"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    get_console_recording: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                recording_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConsoleRecording"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    delete_console_recording: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                recording_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    get_console_recording_cast: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                recording_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-asciicast": string;
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    list_entitlements: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SettingEntitlement"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    stream_events: {
        parameters: {
            query?: {
                topics?: ("guest" | "host" | "node" | "job" | "alert" | "task")[];
                figures?: boolean;
                after?: string;
            };
            header?: {
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    list_cluster_firewall_aliases: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Digest"?: string;
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallAlias"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    create_cluster_firewall_alias: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallAliasIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallAlias"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    change_cluster_firewall_alias: {
        parameters: {
            query?: {
                confirm?: string;
            };
            header?: never;
            path: {
                host_id: number;
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallAliasPatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallAlias"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    delete_cluster_firewall_alias: {
        parameters: {
            query?: {
                digest?: string;
                confirm?: string;
            };
            header?: never;
            path: {
                host_id: number;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallAlias"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_firewall_groups: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Digest"?: string;
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallGroup"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    create_firewall_group: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallGroupIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallGroup"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    delete_firewall_group: {
        parameters: {
            query?: {
                digest?: string;
                confirm?: string;
            };
            header?: never;
            path: {
                host_id: number;
                group: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallGroup"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_group_firewall_aliases: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                group: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Digest"?: string;
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallAlias"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    create_group_firewall_alias: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                group: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallAliasIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallAlias"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    change_group_firewall_alias: {
        parameters: {
            query?: {
                confirm?: string;
            };
            header?: never;
            path: {
                host_id: number;
                group: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallAliasPatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallAlias"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    delete_group_firewall_alias: {
        parameters: {
            query?: {
                digest?: string;
                confirm?: string;
            };
            header?: never;
            path: {
                host_id: number;
                group: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallAlias"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_group_firewall_ipsets: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                group: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Digest"?: string;
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSet"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    create_group_firewall_ipset: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                group: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallIpSetIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSet"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    delete_group_firewall_ipset: {
        parameters: {
            query?: {
                digest?: string;
                confirm?: string;
            };
            header?: never;
            path: {
                host_id: number;
                group: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSet"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_group_firewall_ipset_members: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                group: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Digest"?: string;
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSetMember"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    add_group_firewall_ipset_member: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                group: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallMemberIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSetMember"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    change_group_firewall_ipset_member: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                group: string;
                name: string;
                cidr: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallMemberPatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSetMember"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    remove_group_firewall_ipset_member: {
        parameters: {
            query?: {
                digest?: string;
            };
            header?: never;
            path: {
                host_id: number;
                group: string;
                name: string;
                cidr: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSetMember"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_group_firewall_rules: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                group: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Digest"?: string;
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallRule"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    create_group_firewall_rule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                group: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallRuleIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallRuleChanged"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    change_group_firewall_rule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                group: string;
                pos: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallRulePatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallRuleChanged"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    delete_group_firewall_rule: {
        parameters: {
            query?: {
                digest?: string;
            };
            header?: never;
            path: {
                host_id: number;
                group: string;
                pos: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallRuleChanged"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    move_group_firewall_rule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                group: string;
                pos: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallMoveIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallRuleChanged"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_cluster_firewall_ipsets: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Digest"?: string;
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSet"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    create_cluster_firewall_ipset: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallIpSetIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSet"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    delete_cluster_firewall_ipset: {
        parameters: {
            query?: {
                digest?: string;
                confirm?: string;
            };
            header?: never;
            path: {
                host_id: number;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSet"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_cluster_firewall_ipset_members: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Digest"?: string;
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSetMember"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    add_cluster_firewall_ipset_member: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallMemberIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSetMember"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    change_cluster_firewall_ipset_member: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                name: string;
                cidr: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallMemberPatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSetMember"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    remove_cluster_firewall_ipset_member: {
        parameters: {
            query?: {
                digest?: string;
            };
            header?: never;
            path: {
                host_id: number;
                name: string;
                cidr: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSetMember"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    read_cluster_firewall_log: {
        parameters: {
            query?: {
                since?: string;
                until?: string;
                action?: string;
                proto?: string;
                source?: string;
                dest?: string;
                start?: number;
                limit?: number;
            };
            header?: never;
            path: {
                host_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Next-Start"?: number;
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallLogLine"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    follow_cluster_firewall_log: {
        parameters: {
            query?: {
                since?: string;
                until?: string;
                action?: string;
                proto?: string;
                source?: string;
                dest?: string;
                start?: number;
                limit?: number;
            };
            header?: {
                "Last-Event-ID"?: string;
            };
            path: {
                host_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_firewall_macros: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallMacro"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    get_cluster_firewall_options: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallOptions"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    change_cluster_firewall_options: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallOptionsIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallOptions"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_cluster_firewall_refs: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallReference"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_cluster_firewall_rules: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Digest"?: string;
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallRule"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    create_cluster_firewall_rule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallRuleIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallRuleChanged"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    change_cluster_firewall_rule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                pos: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallRulePatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallRuleChanged"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    delete_cluster_firewall_rule: {
        parameters: {
            query?: {
                digest?: string;
            };
            header?: never;
            path: {
                host_id: number;
                pos: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallRuleChanged"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    move_cluster_firewall_rule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                pos: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallMoveIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallRuleChanged"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_firewall_drafts: {
        parameters: {
            query?: {
                page?: number;
                per_page?: number;
                host?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Draft"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    create_firewall_draft: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateFirewallDraftRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Draft"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    get_firewall_draft: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                draft_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Draft"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    change_firewall_draft: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                draft_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeFirewallDraftRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Draft"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    delete_firewall_draft: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                draft_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    commit_firewall_draft: {
        parameters: {
            query?: {
                plan?: boolean;
                plan_digest?: string;
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                draft_id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CommitFirewallDraftRequest"] | null;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
            202: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestStarted"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    confirm_firewall_draft: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                draft_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Draft"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    list_firewall_node_aliases: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Digest"?: string;
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallAlias"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    create_firewall_node_alias: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                node: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallAliasIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallAlias"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    change_firewall_node_alias: {
        parameters: {
            query?: {
                confirm?: string;
            };
            header?: never;
            path: {
                host_id: number;
                node: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallAliasPatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallAlias"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    delete_firewall_node_alias: {
        parameters: {
            query?: {
                digest?: string;
                confirm?: string;
            };
            header?: never;
            path: {
                host_id: number;
                node: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallAlias"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_firewall_node_ipsets: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Digest"?: string;
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSet"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    create_firewall_node_ipset: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                node: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallIpSetIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSet"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    delete_firewall_node_ipset: {
        parameters: {
            query?: {
                digest?: string;
                confirm?: string;
            };
            header?: never;
            path: {
                host_id: number;
                node: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSet"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_firewall_node_ipset_members: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                node: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Digest"?: string;
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSetMember"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    add_firewall_node_ipset_member: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                node: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallMemberIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSetMember"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    change_firewall_node_ipset_member: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                node: string;
                name: string;
                cidr: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallMemberPatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSetMember"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    remove_firewall_node_ipset_member: {
        parameters: {
            query?: {
                digest?: string;
            };
            header?: never;
            path: {
                host_id: number;
                node: string;
                name: string;
                cidr: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSetMember"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    read_firewall_node_log: {
        parameters: {
            query?: {
                since?: string;
                until?: string;
                action?: string;
                proto?: string;
                source?: string;
                dest?: string;
                start?: number;
                limit?: number;
            };
            header?: never;
            path: {
                host_id: number;
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Next-Start"?: number;
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallLogLine"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    follow_firewall_node_log: {
        parameters: {
            query?: {
                since?: string;
                until?: string;
                action?: string;
                proto?: string;
                source?: string;
                dest?: string;
                start?: number;
                limit?: number;
            };
            header?: {
                "Last-Event-ID"?: string;
            };
            path: {
                host_id: number;
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    get_firewall_node_options: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallOptions"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    change_firewall_node_options: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                node: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallOptionsIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallOptions"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_firewall_node_refs: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallReference"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_firewall_node_rules: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Digest"?: string;
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallRule"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    create_firewall_node_rule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                node: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallRuleIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallRuleChanged"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    change_firewall_node_rule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                node: string;
                pos: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallRulePatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallRuleChanged"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    delete_firewall_node_rule: {
        parameters: {
            query?: {
                digest?: string;
            };
            header?: never;
            path: {
                host_id: number;
                node: string;
                pos: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallRuleChanged"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    move_firewall_node_rule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                node: string;
                pos: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallMoveIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallRuleChanged"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_node_firewall_aliases: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Digest"?: string;
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallAlias"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    create_node_firewall_alias: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                node: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallAliasIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallAlias"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    change_node_firewall_alias: {
        parameters: {
            query?: {
                confirm?: string;
            };
            header?: never;
            path: {
                host_id: number;
                node: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallAliasPatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallAlias"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    delete_node_firewall_alias: {
        parameters: {
            query?: {
                digest?: string;
                confirm?: string;
            };
            header?: never;
            path: {
                host_id: number;
                node: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallAlias"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_node_firewall_ipsets: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Digest"?: string;
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSet"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    create_node_firewall_ipset: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                node: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallIpSetIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSet"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    delete_node_firewall_ipset: {
        parameters: {
            query?: {
                digest?: string;
                confirm?: string;
            };
            header?: never;
            path: {
                host_id: number;
                node: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSet"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_node_firewall_ipset_members: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                node: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Digest"?: string;
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSetMember"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    add_node_firewall_ipset_member: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                node: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallMemberIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSetMember"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    change_node_firewall_ipset_member: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                node: string;
                name: string;
                cidr: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallMemberPatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSetMember"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    remove_node_firewall_ipset_member: {
        parameters: {
            query?: {
                digest?: string;
            };
            header?: never;
            path: {
                host_id: number;
                node: string;
                name: string;
                cidr: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSetMember"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    read_node_firewall_log: {
        parameters: {
            query?: {
                since?: string;
                until?: string;
                action?: string;
                proto?: string;
                source?: string;
                dest?: string;
                start?: number;
                limit?: number;
            };
            header?: never;
            path: {
                host_id: number;
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Next-Start"?: number;
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallLogLine"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    follow_node_firewall_log: {
        parameters: {
            query?: {
                since?: string;
                until?: string;
                action?: string;
                proto?: string;
                source?: string;
                dest?: string;
                start?: number;
                limit?: number;
            };
            header?: {
                "Last-Event-ID"?: string;
            };
            path: {
                host_id: number;
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    get_node_firewall_options: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallOptions"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    change_node_firewall_options: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                node: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallOptionsIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallOptions"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_node_firewall_refs: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallReference"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_node_firewall_rules: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Digest"?: string;
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallRule"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    create_node_firewall_rule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                node: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallRuleIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallRuleChanged"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    change_node_firewall_rule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                node: string;
                pos: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallRulePatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallRuleChanged"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    delete_node_firewall_rule: {
        parameters: {
            query?: {
                digest?: string;
            };
            header?: never;
            path: {
                host_id: number;
                node: string;
                pos: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallRuleChanged"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    move_node_firewall_rule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                node: string;
                pos: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallMoveIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallRuleChanged"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_firewall_reach: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ListFirewallReachRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallReached"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_firewall_templates: {
        parameters: {
            query?: {
                page?: number;
                per_page?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Template"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    create_firewall_template: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateFirewallTemplateRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Template"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    get_firewall_template: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                template_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Template"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    change_firewall_template: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                template_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeFirewallTemplateRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Template"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    delete_firewall_template: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                template_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    create_firewall_draft_of_template: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                template_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateFirewallDraftOfTemplateRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Draft"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    test_firewall_packet: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TestFirewallPacketRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallTested"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_guests: {
        parameters: {
            query?: {
                kind?: "vm" | "container" | "app";
                host?: number;
                status?: "running" | "stopped" | "paused" | "suspended" | "unknown" | "pending";
                q?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestEntry"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    act_on_guests: {
        parameters: {
            query?: {
                plan?: boolean;
                plan_digest?: string;
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ActOnGuestsRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
            202: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestBulk"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    list_hosts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Host"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    create_host: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateHostRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostCreated"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_capabilities: {
        parameters: {
            query?: {
                driver?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostCapability"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    list_drivers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostDriver"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    probe_host: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProbeHostRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostProbed"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    set_self_host: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetSelfHostRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostSelf"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    write_token_script: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WriteTokenScriptRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostTokenScript"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            default: components["responses"]["Problem"];
        };
    };
    get_host: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Host"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    remove_host: {
        parameters: {
            query?: {
                plan?: boolean;
                plan_digest?: string;
            };
            header?: never;
            path: {
                host_id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RemoveHostRequest"] | null;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostRemoved"] | components["schemas"]["Plan"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    patch_host: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PatchHostRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Host"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    rotate_host_credentials: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RotateHostCredentialsRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostRotated"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    delete_host_credential: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                kind: "monitoring" | "lifecycle" | "console" | "backup" | "node_power" | "ssh_key";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostRemoval"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    get_node_hardware: {
        parameters: {
            query?: {
                health?: boolean;
            };
            header?: never;
            path: {
                host_id: number;
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostNodeHardware"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["Problem"];
        };
    };
    get_placement: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestPlacement"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    power_node: {
        parameters: {
            query?: {
                plan?: boolean;
                plan_digest?: string;
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                host_id: number;
                node: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PowerNodeRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
            202: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestStarted"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    get_node_status: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostNodeStatus"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_peers: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostPeer"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    enrol_peers: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EnrolPeersRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostEnrolledPeer"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            default: components["responses"]["Problem"];
        };
    };
    create_node_shell_ticket: {
        parameters: {
            query?: {
                columns?: number;
                rows?: number;
                node?: string;
            };
            header?: never;
            path: {
                host_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConsoleTicket"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    connect_node_shell: {
        parameters: {
            query?: {
                ticket?: string;
            };
            header?: never;
            path: {
                host_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            101: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    verify_host_ssh: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostSSHCheck"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    sync_host: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Host"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_host_tasks: {
        parameters: {
            query?: {
                limit?: number;
            };
            header?: never;
            path: {
                host_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostTask"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    get_host_task_log: {
        parameters: {
            query?: {
                start?: number;
                limit?: number;
            };
            header?: never;
            path: {
                host_id: number;
                upid: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostLog"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    test_host: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostCheck"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    get_upload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                upload_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Upload"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    list_identity_providers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SsoProvider"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    create_identity_provider: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateIdentityProviderRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SsoProvider"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    get_identity_provider: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                provider_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SsoProvider"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    delete_identity_provider: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                provider_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    update_identity_provider: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                provider_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateIdentityProviderRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SsoProvider"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    test_identity_provider: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                provider_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SsoTrial"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    list_jobs: {
        parameters: {
            query?: {
                page?: number;
                per_page?: number;
                status?: "queued" | "running" | "succeeded" | "failed" | "canceled" | "unknown";
                kind?: string;
                target?: string;
                host?: number;
                ids?: number[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobView"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    get_job: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobView"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    cancel_job: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                job_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobCanceled"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    list_job_events: {
        parameters: {
            query?: {
                after?: number;
                limit?: number;
            };
            header?: never;
            path: {
                job_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobEvent"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    stream_job_events: {
        parameters: {
            query?: {
                after?: number;
            };
            header?: {
                "Last-Event-ID"?: string;
            };
            path: {
                job_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    retry_job: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                job_id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RetryJobRequest"] | null;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobAgain"];
                };
            };
            202: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobAgain"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_maintenance_windows: {
        parameters: {
            query?: {
                page?: number;
                per_page?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertWindow"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    create_maintenance_window: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateMaintenanceWindowRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertWindow"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    get_maintenance_window: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                window_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertWindow"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    delete_maintenance_window: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                window_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    update_maintenance_window: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                window_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateMaintenanceWindowRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertWindow"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    get_update: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SelfUpdateStatus"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    request_update: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["MetaRequestIn"] | null;
            };
        };
        responses: {
            202: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SelfUpdateStatus"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    scrape_guests: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/openmetrics-text": string;
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    query_metrics: {
        parameters: {
            query: {
                target: string[];
                metric: string[];
                from?: string;
                to?: string;
                resolution?: "raw" | "5m" | "1h";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MetricSeries"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    get_remote_write: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RemotewriteState"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    set_remote_write: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetRemoteWriteRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RemotewriteState"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    delete_remote_write: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    list_bridges: {
        parameters: {
            query?: {
                host?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NetworkBridges"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    create_bridge: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateBridgeRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NetworkStaged"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    edit_bridge: {
        parameters: {
            query?: {
                confirm?: string;
            };
            header?: never;
            path: {
                host_id: number;
                node: string;
                iface: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EditBridgeRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NetworkStaged"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    delete_bridge: {
        parameters: {
            query?: {
                confirm?: string;
            };
            header?: never;
            path: {
                host_id: number;
                node: string;
                iface: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NetworkStaged"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    get_network_throughput: {
        parameters: {
            query?: {
                hours?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MetricSeries"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    apply_network: {
        parameters: {
            query?: {
                plan?: boolean;
                plan_digest?: string;
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                host_id: number;
                node: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ApplyNetworkRequest"] | null;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
            202: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestStarted"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    revert_network: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NetworkReverted"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_notification_channels: {
        parameters: {
            query?: {
                page?: number;
                per_page?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Channel"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    create_notification_channel: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateNotificationChannelRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Channel"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    get_notification_channel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                channel_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Channel"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    delete_notification_channel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                channel_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    update_notification_channel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                channel_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateNotificationChannelRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Channel"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    test_notification_channel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                channel_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelTrial"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    list_notification_deliveries: {
        parameters: {
            query?: {
                page?: number;
                per_page?: number;
                channel_id?: number;
                state?: "pending" | "held" | "folded" | "sent" | "failed" | "skipped";
                incident?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelDelivery"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    list_plugins: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plugin"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    list_schedules: {
        parameters: {
            query?: {
                page?: number;
                per_page?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedule"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    create_schedule: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateScheduleRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedule"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            default: components["responses"]["Problem"];
        };
    };
    list_schedule_kinds: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleKind"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    list_schedule_times: {
        parameters: {
            query: {
                cron: string;
                timezone?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleTimes"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    delete_schedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                schedule_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    update_schedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                schedule_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateScheduleRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedule"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            default: components["responses"]["Problem"];
        };
    };
    run_schedule: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                schedule_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            202: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleStarted"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            default: components["responses"]["Problem"];
        };
    };
    discover_prometheus_targets: {
        parameters: {
            query?: {
                role?: "guest" | "app" | "node" | "service";
                port?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DiscoveryGroup"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    search: {
        parameters: {
            query?: {
                page?: number;
                per_page?: number;
                q?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchHit"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    list_settings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Setting"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    patch_settings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    "audit.address_days"?: unknown;
                    "audit.retention_days"?: unknown;
                    "backup.max_age_days"?: unknown;
                    "backup.report_at"?: unknown;
                    catalog_stale_after_s?: unknown;
                    "console.idle_s"?: unknown;
                    "console.record_apps"?: unknown;
                    "console.record_shells"?: unknown;
                    "console.record_vms"?: unknown;
                    "console.recording_days"?: unknown;
                    "console.recording_limit_mib"?: unknown;
                    "entitlements.disabled"?: unknown;
                    "jobs.keep_days"?: unknown;
                    "metrics.retention_1h_days"?: unknown;
                    "metrics.retention_5m_days"?: unknown;
                    "metrics.retention_raw_days"?: unknown;
                    "onboarding.complete"?: unknown;
                    "poll.details_per_minute"?: unknown;
                    "poll.interval_s"?: unknown;
                    "self.host_id"?: unknown;
                    "ssh.from_addresses"?: unknown;
                    "upload.keep_free_mib"?: unknown;
                    "upload.limit_mib"?: unknown;
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Setting"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    get_setup: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SetupState"];
                };
            };
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    complete_setup: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CompleteSetupRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CompleteSetupResult"];
                };
            };
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            default: components["responses"]["Problem"];
        };
    };
    list_storage: {
        parameters: {
            query?: {
                page?: number;
                per_page?: number;
                host?: number;
                node?: string;
                name?: string;
                content?: string;
                status?: "available" | "unknown";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Storage"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    attach_storage: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AttachStorageRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StorageAttached"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_storage_types: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StorageType"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    get_storage: {
        parameters: {
            query?: {
                node?: string;
            };
            header?: never;
            path: {
                host_id: number;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StorageDetail"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    detach_storage: {
        parameters: {
            query?: {
                plan?: boolean;
                plan_digest?: string;
            };
            header?: never;
            path: {
                host_id: number;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DetachStorageRequest"] | null;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StorageDetached"] | components["schemas"]["Plan"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    edit_storage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                host_id: number;
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EditStorageRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StorageDetail"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_storage_content: {
        parameters: {
            query?: {
                page?: number;
                per_page?: number;
                node?: string;
                content?: string;
                kind?: "disk" | "image" | "template" | "backup" | "other";
                guest_ref?: string;
                search?: string;
            };
            header?: never;
            path: {
                host_id: number;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Hidden-Content"?: string;
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StorageVolume"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    upload_content: {
        parameters: {
            query?: {
                upload_id?: string;
            };
            header?: never;
            path: {
                host_id: number;
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": {
                    content?: string;
                    file: string;
                    node?: string;
                    overwrite?: boolean;
                    sha256?: string;
                };
            };
        };
        responses: {
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadStarted"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    download_storage_content: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                host_id: number;
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DownloadStorageContentRequest"];
            };
        };
        responses: {
            202: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestStarted"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    delete_storage_volume: {
        parameters: {
            query?: {
                plan?: boolean;
                plan_digest?: string;
                node?: string;
            };
            header?: never;
            path: {
                host_id: number;
                name: string;
                volid: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DeleteStorageVolumeRequest"] | null;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestStarted"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_storage_templates: {
        parameters: {
            query?: {
                page?: number;
                per_page?: number;
                node?: string;
                search?: string;
            };
            header?: never;
            path: {
                host_id: number;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StorageTemplate"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    fetch_storage_template: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                host_id: number;
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FetchStorageTemplateRequest"];
            };
        };
        responses: {
            202: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestStarted"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_teams: {
        parameters: {
            query?: {
                page?: number;
                per_page?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Team"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    create_team: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateTeamRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Team"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    delete_team: {
        parameters: {
            query?: {
                plan?: boolean;
                plan_digest?: string;
            };
            header?: never;
            path: {
                team_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeamDeleted"] | components["schemas"]["Plan"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    patch_team: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                team_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PatchTeamRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Team"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    list_team_members: {
        parameters: {
            query?: {
                page?: number;
                per_page?: number;
            };
            header?: never;
            path: {
                team_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeamMember"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    set_team_member: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                team_id: number;
                user_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetTeamMemberRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeamMember"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    remove_team_member: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                team_id: number;
                user_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeamMemberRemoved"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    list_users: {
        parameters: {
            query?: {
                page?: number;
                per_page?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserAccount"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    create_user: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateUserRequest"];
            };
        };
        responses: {
            201: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserAccount"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    delete_user: {
        parameters: {
            query?: {
                plan?: boolean;
                plan_digest?: string;
            };
            header?: never;
            path: {
                user_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserDeleted"] | components["schemas"]["Plan"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    patch_user: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PatchUserRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserAccount"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    reset_password: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResetPasswordRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserReset"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    reset_totp: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    list_vms: {
        parameters: {
            query?: {
                host?: number;
                status?: "running" | "stopped" | "paused" | "suspended" | "unknown" | "pending";
                q?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Guest"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    create_vm: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateVmRequest"];
            };
        };
        responses: {
            202: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestMade"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    get_vm: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                vm_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Guest"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    delete_vm: {
        parameters: {
            query?: {
                plan?: boolean;
                plan_digest?: string;
            };
            header?: never;
            path: {
                vm_id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DeleteVmRequest"] | null;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestStarted"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    reconfigure_vm: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                vm_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReconfigureVmRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestConfig"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    clone_vm: {
        parameters: {
            query?: {
                plan?: boolean;
                plan_digest?: string;
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                vm_id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CloneVmRequest"] | null;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
            202: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestMade"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    get_vm_config: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                vm_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestConfig"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    create_vm_console_ticket: {
        parameters: {
            query?: {
                columns?: number;
                rows?: number;
                kind?: "terminal" | "graphical";
            };
            header?: never;
            path: {
                vm_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConsoleTicket"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    connect_vm_console: {
        parameters: {
            query?: {
                ticket?: string;
            };
            header?: never;
            path: {
                vm_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            101: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            429: components["responses"]["TooMany"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_vm_firewall_aliases: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                vm_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Digest"?: string;
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallAlias"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    create_vm_firewall_alias: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                vm_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallAliasIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallAlias"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    change_vm_firewall_alias: {
        parameters: {
            query?: {
                confirm?: string;
            };
            header?: never;
            path: {
                vm_id: number;
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallAliasPatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallAlias"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    delete_vm_firewall_alias: {
        parameters: {
            query?: {
                digest?: string;
                confirm?: string;
            };
            header?: never;
            path: {
                vm_id: number;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallAlias"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_vm_firewall_ipsets: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                vm_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Digest"?: string;
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSet"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    create_vm_firewall_ipset: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                vm_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallIpSetIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSet"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    delete_vm_firewall_ipset: {
        parameters: {
            query?: {
                digest?: string;
                confirm?: string;
            };
            header?: never;
            path: {
                vm_id: number;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSet"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_vm_firewall_ipset_members: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                vm_id: number;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Digest"?: string;
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSetMember"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    add_vm_firewall_ipset_member: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                vm_id: number;
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallMemberIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSetMember"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    change_vm_firewall_ipset_member: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                vm_id: number;
                name: string;
                cidr: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallMemberPatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSetMember"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    remove_vm_firewall_ipset_member: {
        parameters: {
            query?: {
                digest?: string;
            };
            header?: never;
            path: {
                vm_id: number;
                name: string;
                cidr: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallIPSetMember"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    read_vm_firewall_log: {
        parameters: {
            query?: {
                since?: string;
                until?: string;
                action?: string;
                proto?: string;
                source?: string;
                dest?: string;
                start?: number;
                limit?: number;
            };
            header?: never;
            path: {
                vm_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Next-Start"?: number;
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallLogLine"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    follow_vm_firewall_log: {
        parameters: {
            query?: {
                since?: string;
                until?: string;
                action?: string;
                proto?: string;
                source?: string;
                dest?: string;
                start?: number;
                limit?: number;
            };
            header?: {
                "Last-Event-ID"?: string;
            };
            path: {
                vm_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    get_vm_firewall_options: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                vm_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallOptions"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    change_vm_firewall_options: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                vm_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallOptionsIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallOptions"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_vm_firewall_refs: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                vm_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallReference"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_vm_firewall_rules: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                vm_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Digest"?: string;
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallRule"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    create_vm_firewall_rule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                vm_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallRuleIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallRuleChanged"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    change_vm_firewall_rule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                vm_id: number;
                pos: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallRulePatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallRuleChanged"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    delete_vm_firewall_rule: {
        parameters: {
            query?: {
                digest?: string;
            };
            header?: never;
            path: {
                vm_id: number;
                pos: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallRuleChanged"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    move_vm_firewall_rule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                vm_id: number;
                pos: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FirewallMoveIn"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FirewallRuleChanged"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    migrate_vm: {
        parameters: {
            query?: {
                plan?: boolean;
                plan_digest?: string;
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                vm_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MigrateVmRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
            202: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestMigrating"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    check_vm_migration: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                vm_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CheckVmMigrationRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestPreflight"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_vm_nics: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                vm_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestInterface"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    change_vm_nic: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                vm_id: number;
                iface: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeVmNicRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestChangedInterface"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    get_vm_options: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                vm_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OptionVMOptions"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    change_vm_options: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                vm_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    delete?: unknown;
                    dhcp?: unknown;
                    digest?: unknown;
                    enable?: unknown;
                    ipfilter?: unknown;
                    macfilter?: unknown;
                    ndp?: unknown;
                    policy_in?: unknown;
                    policy_out?: unknown;
                    radv?: unknown;
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OptionVMOptions"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    list_vm_snapshots: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                vm_id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    "X-Total-Count"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestSnapshot"][];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    create_vm_snapshot: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                vm_id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateVmSnapshotRequest"];
            };
        };
        responses: {
            202: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestStarted"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    delete_vm_snapshot: {
        parameters: {
            query?: {
                plan?: boolean;
                plan_digest?: string;
            };
            header?: never;
            path: {
                vm_id: number;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestStarted"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    rollback_vm_snapshot: {
        parameters: {
            query?: {
                plan?: boolean;
                plan_digest?: string;
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                vm_id: number;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RollbackVmSnapshotRequest"] | null;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
            202: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestStarted"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            502: components["responses"]["HypervisorFailed"];
            503: components["responses"]["Unavailable"];
            504: components["responses"]["Timeout"];
            default: components["responses"]["Problem"];
        };
    };
    act_on_vm: {
        parameters: {
            query?: {
                plan?: boolean;
                plan_digest?: string;
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                vm_id: number;
                action: "start" | "stop" | "shutdown" | "restart" | "pause" | "resume" | "reset";
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ActOnVmRequest"] | null;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
            202: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GuestStarted"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            501: components["responses"]["Unsupported"];
            default: components["responses"]["Problem"];
        };
    };
    get_meta_update: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SelfUpdateStatus"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
    request_meta_update: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["MetaRequestIn"] | null;
            };
        };
        responses: {
            202: {
                headers: {
                    "Idempotent-Replayed"?: "true";
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SelfUpdateStatus"];
                };
            };
            401: components["responses"]["Unauthenticated"];
            403: components["responses"]["Forbidden"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["TooLarge"];
            415: components["responses"]["UnsupportedMedia"];
            422: components["responses"]["Invalid"];
            default: components["responses"]["Problem"];
        };
    };
}
